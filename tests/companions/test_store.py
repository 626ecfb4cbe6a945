"""A store beside a workload, with the real PostgreSQL: as whom it runs, how it ends, and what it leaves behind."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from msgspec.structs import replace

from tests.companions.stores import ROOT, postgresql, started
from tracetax.artifacts import cache_dir
from tracetax.companions.database import Database, changed
from tracetax.companions.store import StoreLost, StoreServer
from tracetax.run.backends import supply_store

pytestmark = pytest.mark.real
WORLD = postgresql().data["world"]
ROWS = 10_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreServer]:
    with started(tmp_path) as running:
        yield running


def test_it_takes_connections_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with started(tmp_path) as store:
        assert store.process
        family = [psutil.Process(store.process.pid), *psutil.Process(store.process.pid).children(recursive=True)]
        assert len(family) > 1
        assert all(process.uids().real != 0 or "unshare" in " ".join(store.process.command) for process in family)
        store.check()
        store.stop()
    assert not any(process.is_running() for process in family)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("architecture", postgresql().servers)
def test_its_programs_are_there_for_every_architecture(monkeypatch: pytest.MonkeyPatch, architecture: str) -> None:
    monkeypatch.setattr("tracetax.run.backends.platform.machine", lambda: architecture)
    server = supply_store(postgresql(), ROOT / "stores" / "postgresql", cache_dir(os.environ)).server
    machine = {"x86_64": b"\x3e", "aarch64": b"\xb7"}[architecture]
    for program in ("initdb", "postgres"):
        assert (server / "bin" / program).read_bytes()[18:19] == machine  # ELF's e_machine
    assert list(server.rglob("pg_stat_statements.so"))


def test_two_run_side_by_side_and_know_nothing_of_each_other(tmp_path: Path) -> None:
    with started(tmp_path / "a") as first, started(tmp_path / "b") as second:
        with Database(first.store, first.url) as one, Database(second.store, second.url) as other:
            one.make(WORLD, seed=1)
            other.make(WORLD, seed=2)
            assert one.rows(WORLD) != other.rows(WORLD)
        first.stop()
        second.check()
        with Database(second.store, second.url) as other:
            assert len(other.rows(WORLD)) == ROWS


def test_the_same_seed_makes_the_same_rows(store: StoreServer) -> None:
    with Database(store.store, store.url) as database:
        database.make(WORLD, seed=7)
        first = database.rows(WORLD)
        database.make(WORLD, seed=7)
        assert database.rows(WORLD) == first
        assert sorted(first) == list(range(1, ROWS + 1))
        numbers = [number for (number,) in first.values()]
        assert 1 <= min(numbers) < max(numbers) <= ROWS
        assert 6_000 < len(set(numbers)) < 6_700  # of 10,000 drawn, 63 % come at all
        database.make(WORLD, seed=8)
        assert changed(first, database.rows(WORLD)) > 9_900


def test_every_statement_is_counted_and_none_of_ones_own(store: StoreServer) -> None:
    with Database(store.store, store.url) as database, psycopg.connect(store.url) as client:
        database.make(WORLD, seed=1)
        before, begun = database.rows(WORLD), database.statements()
        for number in range(1, 1_001):
            client.execute("SELECT id, randomnumber FROM world WHERE id = %s", (number,))
            client.execute("UPDATE world SET randomnumber = %s WHERE id = %s", (20_000, number))
        client.commit()
        database.rows(WORLD)
        asked = database.statements().since(begun)
        assert (asked.calls, asked.rows) == (2_000, 2_000)
        assert {text.split()[0]: was.calls for text, was in asked.by_text.items()} == {"SELECT": 1_000, "UPDATE": 1_000}
        assert changed(before, database.rows(WORLD)) == 1_000
        assert database.statements().since(begun).calls == 2_000


def test_a_connection_that_cannot_be_made_or_used_is_told_without_the_password(store: StoreServer) -> None:
    password = store.url.split(":")[2].partition("@")[0]
    with pytest.raises(StoreLost, match=r"takes no connection: .*password authentication failed") as lost:
        Database(store.store, store.url.replace(password, "wrong-one"))
    assert "wrong-one" not in str(lost.value)
    with Database(store.store, store.url) as database, pytest.raises(StoreLost, match='fails at "SELECT 1/0…": divis'):
        database.rows(replace(WORLD, rows="SELECT 1/0"))
