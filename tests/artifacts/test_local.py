"""A file of the user's is copied once, by content, and what a build does to it afterwards changes nothing."""

import hashlib
from pathlib import Path

import pytest

from tracetax.artifacts import keep
from tracetax.errors import UserError
from tracetax.model import Artifact


@pytest.fixture
def given(tmp_path: Path) -> Artifact:
    file = tmp_path / "build" / "new.jar"
    file.parent.mkdir()
    file.write_bytes(b"the first build")
    sha256 = hashlib.sha256(b"the first build").hexdigest()
    return Artifact("agent", "org.example:tracer:1.2.3", sha256, str(file))


def test_the_copy_stays_as_it_was_when_the_file_is_built_anew_or_removed(given: Artifact, cache: Path) -> None:
    path = keep(given, cache)
    assert (path.name, path.read_bytes()) == ("new.jar", b"the first build")
    Path(given.file).write_bytes(b"the second build")
    assert keep(given, cache).read_bytes() == b"the first build"
    Path(given.file).unlink()
    assert keep(given, cache) == path


def test_a_file_that_changed_before_it_was_copied_is_refused(given: Artifact, cache: Path) -> None:
    Path(given.file).write_bytes(b"half of the second bu")
    with pytest.raises(UserError, match="has changed since it was given"):
        keep(given, cache)
    assert not list(cache.rglob("new.jar"))


def test_a_file_that_is_gone_and_was_never_copied_is_refused(given: Artifact, cache: Path) -> None:
    Path(given.file).unlink()
    with pytest.raises(UserError, match=r"new\.jar is gone, and the cache has no copy"):
        keep(given, cache)


def test_a_damaged_copy_is_made_again(given: Artifact, cache: Path) -> None:
    keep(given, cache).write_bytes(b"rotten")
    assert keep(given, cache).read_bytes() == b"the first build"


def test_its_version_is_the_name_of_the_file(given: Artifact) -> None:
    assert given.version == "new.jar"
