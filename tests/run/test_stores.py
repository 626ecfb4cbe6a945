"""Stores of a trial: started for it with fresh data, nobody else's work, removed after, and never betrayed."""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import psycopg
import pytest
from msgspec.structs import replace

from tests.companions.stores import started
from tests.services.repository import KEY, repository
from tests.services.trials import PARAMETERS, QUIET, codes, text_of, trial
from tracetax.artifacts import cache_dir
from tracetax.catalog.workload_file import load_workload
from tracetax.companions.database import Database
from tracetax.errors import UserError
from tracetax.machine import disturbance
from tracetax.run.stores import store_hash, supply_stores, users_stores, variable

pytestmark = pytest.mark.real
STORE = "postgresql"
VARIABLE = "TRACETAX_STORE_POSTGRESQL"
STAYS = replace(PARAMETERS, calls=900)


def started_by_this(program: str) -> list[psutil.Process]:
    """Processes that this one has started and that run, a word of whose command ends like this."""
    found: list[psutil.Process] = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # it has ended, and perhaps nobody has waited for it yet
            if any(word.endswith(program) for word in child.cmdline()):
                found.append(child)
    return found


def servers() -> list[psutil.Process]:
    """PostgreSQL's first processes."""
    return started_by_this("/bin/postgres")


def once_calling(act: Callable[[str], None]) -> tuple[Callable[[str], None], list[str]]:
    """Who is told what a trial does, and acts on the store's address at the measured calls; the addresses seen."""
    seen: list[str] = []

    def watch(text: str) -> None:
        if text == "calling":
            (service,) = started_by_this("service.py")
            seen.append(service.environ()["STORE_0"])
            Thread(target=act, args=(seen[0],), daemon=True).start()

    return watch, seen


def test_a_service_finds_a_store_of_its_own_with_data(tmp_path: Path) -> None:
    rows: list[Any] = []

    def look(url: str) -> None:
        with psycopg.connect(url) as connection:
            rows.extend(connection.execute("SELECT count(*) FROM world").fetchall())

    watch, seen = once_calling(look)
    record = trial(tmp_path, QUIET, parameters=STAYS, stores=(STORE,), watch=watch)
    assert (record.status, codes(record)) == ("ok", set())
    assert rows == [(10_000,)]
    assert seen
    assert not servers()
    assert (tmp_path / "run" / "logs" / "0001" / f"{STORE}.txt").is_file()


def test_nothing_that_is_kept_holds_a_stores_password(tmp_path: Path) -> None:
    watch, seen = once_calling(lambda _: None)
    record = trial(tmp_path, QUIET, parameters=STAYS, stores=(STORE,), watch=watch)
    assert record.environment["STORE_0"] == "{stores.postgresql.url}"
    password = re.match(r"postgresql://tracetax:(\w+)@", seen[0])
    assert password
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert {"record.json", "command.sh"} <= {path.name for path in kept}
    assert not [path for path in kept if password[1].encode() in path.read_bytes()]
    script = (tmp_path / "run" / "trials" / "0001" / "command.sh").read_text()
    assert f'STORE_0="${VARIABLE}"' in script
    assert f': "${{{VARIABLE}:?' in script


def test_what_a_store_uses_is_nobody_elses_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own: list[int] = []
    between = disturbance.between

    def noted(start: Any, end: Any, own_cpu_ns: int, share: float) -> Any:
        own.append(own_cpu_ns)
        return between(start, end, own_cpu_ns, share)

    burnt: list[float] = []

    def burn(url: str) -> None:
        (server,) = servers()
        before = server.cpu_times()
        with psycopg.connect(url) as connection:
            connection.execute("SELECT sum(sqrt(n)) FROM generate_series(1, 8000000) AS n")
        time.sleep(0.2)
        after = server.cpu_times()
        burnt.append(after.children_user + after.children_system - before.children_user - before.children_system)

    monkeypatch.setattr(disturbance, "between", noted)
    watch, _ = once_calling(burn)
    trial(tmp_path, QUIET, parameters=replace(PARAMETERS, calls=3_000), stores=(STORE,), watch=watch)
    quiet, _ = once_calling(lambda _: None)
    (tmp_path / "quiet").mkdir()
    trial(tmp_path / "quiet", QUIET, parameters=replace(PARAMETERS, calls=3_000), stores=(STORE,), watch=quiet)
    (with_it, without) = own
    assert burnt[0] > 0.5
    assert with_it - without > 0.5 * burnt[0] * 1e9


def test_a_store_that_dies_is_the_verdict_of_its_trial(tmp_path: Path) -> None:
    def kill(_url: str) -> None:
        for server in servers():
            server.kill()

    watch, _ = once_calling(kill)
    record = trial(tmp_path, QUIET, parameters=STAYS, stores=(STORE,), watch=watch)
    assert record.status == "failed"
    assert "PostgreSQL 18.6.0 is gone" in text_of(record, "store-failed")
    assert not servers()


def test_a_store_of_the_users_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(tmp_path) as mine:
        monkeypatch.setenv(VARIABLE, mine.url)
        watch, seen = once_calling(lambda _: None)
        record = trial(tmp_path, QUIET, parameters=STAYS, stores=(STORE,), watch=watch)
        assert (record.status, codes(record)) == ("ok", set())
        assert seen == [mine.url]
        assert mine.url.split("@")[0] not in (tmp_path / "run" / "trials" / "0001" / "record.json").read_text()
        with Database(mine.store, mine.url) as database:
            assert not [text for text in database.statements().by_text if "world" in text], "nothing was made in it"


@pytest.mark.parametrize("url", ["postgresql://me:secret@db.example.org/mine", "me:secret@127.0.0.1"])
def test_an_address_that_is_none_of_this_machine_is_refused_by_its_variable(tmp_path: Path, url: str) -> None:
    root = repository(tmp_path, (STORE,))
    workload = load_workload(KEY, root)[0]
    with pytest.raises(UserError, match=f"It stands in the variable {VARIABLE}") as refused:
        users_stores(workload, root, {VARIABLE: url})
    assert "secret" not in str(refused.value)


def test_a_store_that_is_not_there_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path, ("postgresq",))
    workload = load_workload(KEY, root)[0]
    with pytest.raises(UserError, match=r'workload\.toml: stores: "postgresq" is no store.*postgresql'):
        users_stores(workload, root, {})


def test_what_is_compared_on_resume_says_which_store_but_not_how_it_is_entered(tmp_path: Path) -> None:
    root = repository(tmp_path, (STORE,))
    workload = load_workload(KEY, root)[0]
    own = supply_stores(workload, root, cache_dir(os.environ), {})[STORE]
    users = {
        password: supply_stores(
            workload, root, cache_dir(os.environ), {variable(STORE): f"postgresql://me:{password}@127.0.0.1:5432/mine"}
        )[STORE]
        for password in ("first", "second")
    }
    assert store_hash(users["first"]) == store_hash(users["second"]) == (None, "127.0.0.1:5432/mine")
    assert store_hash(own) != store_hash(users["first"])
