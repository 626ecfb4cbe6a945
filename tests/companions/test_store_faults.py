"""Whatever becomes of a store, of its folder or of Tracetax: it is told with the way out, and nothing lives on."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from msgspec.structs import replace

from tests.companions.stores import ROOT, postgresql, started, supplied
from tests.faults.scene import children
from tracetax.companions.database import Database
from tracetax.companions.store import StoreLost, SuppliedStore, enters
from tracetax.errors import UserError
from tracetax.run.backends import supply_store
from tracetax.store import Store

pytestmark = pytest.mark.real
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
UNKNOWN = 54_321
"""A number that is no user's."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tracetax-store-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture(scope="module")
def open_server() -> Iterator[Path]:
    """The store's programs where every user may enter; the cache may lie in a home."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tracetax-server-") as folder:
        Path(folder).chmod(0o755)
        yield shutil.copytree(supplied().server, Path(folder) / "server")


def run_by(user: str, place: Path, server: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.companions.store_of", str(place), str(server), user],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def family(pid: int) -> list[psutil.Process]:
    return [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]


def shared_memory(pid: int) -> list[str]:
    """Segments that a process made, which outlive it unless it removes them."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return [line for line in lines if line.split()[4] == str(pid)]


def all_gone(processes: list[psutil.Process], seconds: float = 10.0) -> bool:
    return not psutil.wait_procs(processes, timeout=seconds)[1]


@AS_ROOT
@pytest.mark.parametrize(
    ("user", "runs_as"), [("-", pwd.getpwnam("nobody").pw_uid), ("2", 2), (str(UNKNOWN), UNKNOWN)], ids=str
)
def test_it_runs_as_an_ordinary_user_whoever_starts_it(place: Path, open_server: Path, user: str, runs_as: int) -> None:
    with run_by(user, place, open_server) as run:
        assert run.stdout
        pid, url = run.stdout.readline().split()
        processes = family(int(pid))
        assert {process.uids().real for process in processes} == {runs_as}
        with psycopg.connect(url) as client:
            assert client.execute("SELECT 1").fetchone() == (1,)
        run.communicate()
    assert run.returncode == 0
    assert all_gone(processes)
    assert not (place / "store").exists()


@AS_ROOT
def test_where_nobody_may_enter_root_runs_it_in_a_user_namespace(tmp_path: Path) -> None:
    assert not enters(tmp_path)
    with started(tmp_path) as store, psycopg.connect(store.url) as client:
        assert store.process
        assert client.execute("SELECT 1").fetchone() == (1,)
        mapped = Path(f"/proc/{store.process.pid}/uid_map").read_text().split()
        assert mapped[1:] == ["0", "1"]
        assert int(mapped[0]) == pwd.getpwnam("nobody").pw_uid


@pytest.mark.parametrize("way", ["itself", "nobody"])
def test_one_whose_tracetax_is_killed_leaves_no_process_and_no_shared_memory(
    place: Path, tmp_path: Path, way: str, request: pytest.FixtureRequest
) -> None:
    if way == "nobody" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    server = request.getfixturevalue("open_server") if way == "nobody" else supplied().server
    with run_by("-", place if way == "nobody" else tmp_path, server) as run:
        assert run.stdout
        pid, url = run.stdout.readline().split()
        assert shared_memory(int(pid))
        assert "/dev/shm/PostgreSQL" not in Path(f"/proc/{pid}/maps").read_text()
        with psycopg.connect(url):
            processes = family(int(pid))
            run.kill()
            assert all_gone(processes)
    assert not shared_memory(int(pid))


def test_one_that_is_killed_is_told_with_its_log_and_leaves_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as store:
        assert store.process
        processes = family(store.process.pid)
        os.kill(store.process.pid, signal.SIGKILL)
        store.process.wait(5.0)
        with pytest.raises(StoreLost, match=r"PostgreSQL 18\.6\.0 is gone and was ended by signal SIGKILL") as lost:
            store.check()
        assert str(tmp_path / "store.txt") in str(lost.value)
        assert shared_memory(store.process.pid)
        with pytest.raises(StoreLost, match="is gone"):
            store.stop()
    assert all_gone(processes)
    assert not shared_memory(store.process.pid)
    assert not (tmp_path / "store").exists()
    assert children() == {}


def test_a_connected_client_does_not_keep_it_from_its_end(tmp_path: Path) -> None:
    with started(tmp_path) as store, contextlib.closing(psycopg.connect(store.url)) as client:
        client.execute("SELECT 1")
        begun = time.monotonic()
        store.stop()
        assert time.monotonic() - begun < 5.0
        assert store.process
        assert store.process.ending
        assert (store.process.ending.status, store.process.ending.asked) == (0, "itself")


def test_a_port_that_is_taken_is_told_in_the_servers_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr("tracetax.companions.store.free_port", lambda: taken.getsockname()[1])
        with pytest.raises(StoreLost, match="did not start and ended with status 1") as lost:
            started(tmp_path)
    assert "Address already in use" in str(lost.value)
    assert not (tmp_path / "store").exists()
    assert children() == {}


def test_one_that_cannot_be_made_is_told_in_the_servers_own_words(tmp_path: Path) -> None:
    wrong = changed(make=(*postgresql().make, "--no-such-option"))
    with pytest.raises(StoreLost, match="could not be made: initdb ended with status 1") as lost:
        started(tmp_path, wrong)
    assert "unrecognized option '--no-such-option'" in str(lost.value)
    assert not (tmp_path / "store").exists()


def test_one_that_is_not_ready_in_time_is_ended(tmp_path: Path) -> None:
    never = changed(ready=replace(postgresql().ready, text="never", within_ns=10**9))
    with pytest.raises(StoreLost, match="was not ready within 1 s and still runs"):
        started(tmp_path, never)
    assert not (tmp_path / "store").exists()
    assert children() == {}


def test_one_that_listens_for_the_whole_network_is_not_used(tmp_path: Path) -> None:
    start = tuple(word.replace("127.0.0.1", "0.0.0.0") for word in postgresql().start)
    with pytest.raises(StoreLost, match="listens on more than the loopback address"):
        started(tmp_path, changed(start=start))
    assert children() == {}


def test_one_that_does_not_count_statements_says_what_it_lacks(tmp_path: Path) -> None:
    start = tuple(word.replace("libraries=pg_stat_statements", "libraries=") for word in postgresql().start)
    with started(tmp_path, changed(start=start)) as store, Database(store.store, store.url) as database:
        with pytest.raises(StoreLost, match=r'fails at "SELECT query, .*must be loaded via "?shared_preload_libraries'):
            database.statements()
        store.check()


def test_a_folder_that_is_there_already_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").touch()
    with pytest.raises(StoreLost, match=r"its folder .*/store cannot be made: File exists"):
        started(tmp_path)
    assert (tmp_path / "store" / "mine").exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreLost, match=r"its folder /proc/.*/store cannot be made: "):
        started(Path("/proc/tracetax"))


WAYS_OUT = {
    0: r"It needs a user namespace, since nobody may not enter .* or its programs: keep runs, and the cache",
    UNKNOWN: r"It needs a user namespace, since this machine knows no user 54321: run as one that it knows",
}


@pytest.mark.parametrize("user", WAYS_OUT)
def test_without_user_namespaces_the_way_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    unshare = tmp_path / "unshare"
    unshare.write_text("#!/bin/sh\necho 'unshare failed: Operation not permitted' >&2\nexit 1\n")
    unshare.chmod(0o755)
    found: list[str | None] = [None, str(unshare)]
    monkeypatch.setattr("tracetax.companions.store.os.geteuid", lambda: user)
    monkeypatch.setattr("tracetax.companions.store.enters", never)
    monkeypatch.setattr("tracetax.companions.store.shutil.which", lambda _: found.pop(0))  # pyright: ignore
    for words in ("unshare, of util-linux, is missing", "unshare failed: Operation not permitted"):
        with pytest.raises(StoreLost, match=WAYS_OUT[user]) as lost:
            started(tmp_path)
        assert words in str(lost.value)
    assert not found
    assert not (tmp_path / "store").exists()


def never(_: Path) -> bool:
    return False


def test_a_wrong_checksum_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(*_: object) -> Path:
        (tmp_path / "other.jar").write_bytes(b"something else")
        return tmp_path / "other.jar"

    monkeypatch.setattr("tracetax.artifacts.maven._copied", other)
    with pytest.raises(UserError, match="does not have the checksum") as refused:
        supply_store(postgresql(), ROOT / "stores" / "postgresql", tmp_path / "cache")
    assert "it is not used" in str(refused.value)
    assert not list((tmp_path / "cache").rglob("*.jar"))


def test_an_architecture_without_programs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.run.backends.platform.machine", lambda: "riscv64")
    with pytest.raises(UserError, match='PostgreSQL is not there for riscv64, but for "x86_64", "aarch64"'):
        supply_store(postgresql(), ROOT / "stores" / "postgresql", tmp_path)


def changed(**fields: object) -> SuppliedStore:
    store: Store = replace(postgresql(), **fields)
    return SuppliedStore(store, supplied().server)
