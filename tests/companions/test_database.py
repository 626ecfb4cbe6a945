"""Databases that are there already, and rows that changed."""

import pytest

from tests.companions.stores import postgresql
from tracetax.companions.database import changed, existing
from tracetax.errors import UserError


def test_rows_that_are_new_or_gone_are_changed() -> None:
    assert changed({1: (5,), 2: (6,)}, {1: (5,), 3: (6,)}) == 2
    assert changed({1: (5,)}, {1: (5,)}) == 0


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@127.0.0.1:5432/mine",
        "postgresql://me:secret@localhost/mine",
        "postgresql://me:secret@[::1]:5432/mine",
        "postgresql://me:secret@127.8.9.10/mine?sslmode=disable",
    ],
)
def test_a_database_of_ones_own_on_this_machine_is_taken_as_it_is(url: str) -> None:
    assert existing(postgresql(), url) == url


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://me:secret@db.example.org:5432/mine", r"db\.example\.org:5432/mine lies on db\.example\.org"),
        ("postgresql://me:secret@192.168.0.7/mine", r"lies on 192\.168\.0\.7"),
        ("postgresql://me:secret@127.0.0.1,10.0.0.1/mine", r"lies on 127\.0\.0\.1,10\.0\.0\.1"),
        ("postgresql://me:secret@127.0.0.1/mine?host=10.0.0.1", r"lies on 10\.0\.0\.1"),
        ("postgresql://me:secret@127.0.0.1/mine?hostaddr=10.0.0.1", r"lies on 10\.0\.0\.1"),
        ("postgresql:///mine", "is no address of a database"),
        ("postgresql://me:secret@/mine", "names no host"),
        ("me:secret@127.0.0.1", "is no address of a database"),
        ("", "An empty text is no address"),
        ("postgresql://me:secret@127.0.0.1:x/mine", "is no address of a database"),
    ],
)
def test_a_database_elsewhere_is_refused_with_the_way_out(url: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        existing(postgresql(), url)
    assert "Give one such as: postgresql://tracetax:PASSWORD@127.0.0.1:PORT/postgres" in str(refused.value)
    assert "secret" not in str(refused.value)
