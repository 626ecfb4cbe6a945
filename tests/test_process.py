"""A child never outlives what started it, however that ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tracetax.errors import UserError
from tracetax.process import Process, clean_environment, inherited_traps, left_behind, none_forgotten, started

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


def start(code: str, tmp_path: Path, cores: Collection[int] = ()) -> Process:
    process = Process(
        (sys.executable, "-c", code),
        environment=dict(os.environ),
        stdout=tmp_path / "out",
        stderr=tmp_path / "err",
        cores=cores,
    )
    deadline = time.monotonic() + 20
    while "up" not in (tmp_path / "out").read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    return process


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def test_closing_its_input_ends_a_process_that_reads_to_the_end(tmp_path: Path) -> None:
    with start("import sys; print('up', flush=True); sys.stdin.read()", tmp_path) as process:
        ending = process.stop(grace=20)
    assert (ending.status, ending.asked) == (0, "itself")


def test_one_that_only_ignores_its_input_is_ended_by_term(tmp_path: Path) -> None:
    with start("import time; print('up', flush=True); time.sleep(600)", tmp_path) as process:
        ending = process.stop(grace=0.1, term_grace=20)
    assert (ending.status, ending.asked) == (-signal.SIGTERM, "TERM")


def test_one_that_ignores_term_is_killed(tmp_path: Path) -> None:
    with start(STUBBORN, tmp_path) as process:
        ending = process.stop(grace=0.1, term_grace=0.1)
    assert (ending.status, ending.asked) == (-signal.SIGKILL, "KILL")


def test_leaving_the_block_kills_it_and_its_own_children(tmp_path: Path) -> None:
    code = (
        "import subprocess,sys,time; c=subprocess.Popen([sys.executable,'-c','import time; time.sleep(600)']);"
        "print(c.pid, 'up', flush=True); time.sleep(600)"
    )
    with start(code, tmp_path) as process:
        grandchild = int((tmp_path / "out").read_text().split()[0])
    assert gone(process.pid)
    assert gone(grandchild)


def test_it_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = f"""
import os, sys, time
from pathlib import Path
from tracetax.process import Process
p = Process((sys.executable, "-c", {STUBBORN!r}), environment=dict(os.environ), stdout=Path("out"), stderr=Path("err"))
print(p.pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen(
        (sys.executable, "-c", code),
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path("src").resolve())},
    )
    assert parent.stdout
    child = int(parent.stdout.readline())
    assert alive(child)
    parent.kill()
    parent.wait()
    assert gone(child)
    parent.stdout.close()


def test_its_ending_tells_cpu_and_memory(tmp_path: Path) -> None:
    code = "print('up', flush=True)\nx = bytearray(80 << 20)\nfor i in range(3_000_000): pass"
    with start(code, tmp_path) as process:
        ending = process.wait(60)
    assert ending and ending.cpu_ns > 10_000_000
    assert ending.max_rss_bytes > 80 << 20


def test_a_program_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="/does/not/exist cannot be started"):
        Process(("/does/not/exist",), environment={}, stdout=tmp_path / "o", stderr=tmp_path / "e")


def test_the_environment_is_built_from_nothing() -> None:
    inherited = {"PATH": "/bin", "HOME": "/h", "JAVA_TOOL_OPTIONS": "-Xmx1m", "OTEL_SERVICE_NAME": "x", "EDITOR": "vi"}
    built = clean_environment(inherited, {"KIEKER_X": "1"})
    assert built == {"PATH": "/bin", "HOME": "/h", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "KIEKER_X": "1"}
    traps = ("JAVA_TOOL_OPTIONS", "CLASSPATH")
    assert inherited_traps(inherited, traps, ("OTEL_", "DD_")) == ("JAVA_TOOL_OPTIONS", "OTEL_SERVICE_NAME")
    assert inherited_traps(inherited, traps, ()) == ("JAVA_TOOL_OPTIONS",)
    assert inherited_traps(inherited, (), ()) == ()


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), 'up', flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
"""


def test_a_daemon_that_left_its_group_and_lost_its_parent_is_ended(tmp_path: Path) -> None:
    with start(DAEMON + "time.sleep(600)", tmp_path) as process:
        daemon = int((tmp_path / "out").read_text().split()[0])
        assert alive(daemon)
    assert gone(process.pid)
    assert gone(daemon)


def test_a_daemon_of_a_process_that_ends_by_itself_is_ended(tmp_path: Path) -> None:
    with start(DAEMON, tmp_path) as process:
        daemon = int((tmp_path / "out").read_text().split()[0])
        process.stop(grace=20)
        assert gone(daemon)


def test_the_cpu_of_what_it_left_behind_is_told_apart_from_its_own(tmp_path: Path) -> None:
    burning = DAEMON.replace("print", "while time.process_time() < 0.2: pass\n        print")
    with start(burning + "time.sleep(600)", tmp_path) as process:
        assert process.orphans_cpu_ns == 0
        ending = process.stop(grace=0.01)
    assert ending.cpu_ns < 200_000_000
    assert 200_000_000 <= process.orphans_cpu_ns < 400_000_000


@pytest.mark.parametrize("code", ["", "raise SystemExit(3)", "import os; os.abort()"])
def test_its_accounts_can_be_read_once_between_its_end_and_the_wait_for_it(tmp_path: Path, code: str) -> None:
    with start(f"print('up', flush=True); input() if not {code!r} else None; {code}", tmp_path) as process:
        states: list[str] = []
        process.before_reaping = lambda: states.append(
            Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1][0]
        )
        assert states == []
        process.stop(grace=20)
        process.poll()
    assert states == ["Z"]


def test_what_an_earlier_process_left_on_purpose_stays_until_that_one_ends(tmp_path: Path) -> None:
    earlier, later = tmp_path / "earlier", tmp_path / "later"
    earlier.mkdir()
    later.mkdir()
    with start(DAEMON + "time.sleep(600)", earlier):
        daemon = int((earlier / "out").read_text().split()[0])
        with start("print('up', flush=True)", later):
            pass
        assert alive(daemon)
    assert gone(daemon)


def deaf_to_signals(_pid: int, _number: int) -> None:
    """As a process in uninterruptible sleep is."""


def test_a_process_that_even_kill_does_not_end_is_named_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start("import time; print('up', flush=True); time.sleep(600)", tmp_path) as process:
        with monkeypatch.context() as deaf:
            deaf.setattr("os.kill", deaf_to_signals)
            deaf.setattr("os.killpg", deaf_to_signals)
            deaf.setattr("tracetax.process.KILL_SECONDS", 0.05)
            ending = process.stop(grace=0.01, term_grace=0.01)
            assert ending.left_behind == process.pid
            assert str(process.pid) in ending.description
            assert process.pid in left_behind()
        os.kill(process.pid, signal.SIGKILL)
        assert gone(process.pid)
        assert process.pid not in left_behind()


def test_its_threads_run_on_its_cores_alone(tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    code = "import os,threading as t; a=[]; x=t.Thread(target=lambda: a.append(os.sched_getaffinity(0))); x.start();"
    with start(code + "x.join(); print(a, 'up', flush=True)", tmp_path, cores={core}) as process:
        process.wait(20)
    assert f"{{{core}}}" in (tmp_path / "out").read_text()
    assert core in os.sched_getaffinity(0)


def test_cores_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be started on the cores"):
        start("print('up')", tmp_path, cores={4095})


def test_its_ending_tells_how_often_it_was_interrupted(tmp_path: Path) -> None:
    code = "import time\nend=time.monotonic()+0.4\nprint('up', flush=True)\nwhile time.monotonic()<end: pass"
    core = {min(os.sched_getaffinity(0))}
    with start(code, tmp_path, cores=core), start(code, tmp_path, cores=core) as process:
        ending = process.wait(20)
    assert ending and ending.involuntary_switches > 0


def test_who_asks_for_the_children_while_one_is_being_started_is_told_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked, told = threading.Event(), set[int]()
    begin = Process._begin  # pyright: ignore[reportPrivateUsage]

    def begin_slowly(*arguments: Any) -> "subprocess.Popen[bytes]":
        child = begin(*arguments)
        forked.set()
        time.sleep(0.2)
        return child

    def ask() -> None:
        forked.wait(20)
        told.update(started())

    monkeypatch.setattr(Process, "_begin", begin_slowly)
    asker = threading.Thread(target=ask)
    asker.start()
    with start("import time; print('up', flush=True); time.sleep(600)", tmp_path) as process:
        asker.join()
        assert process.pid in told
    assert process.pid not in started()


def test_a_child_that_nobody_holds_is_ended_where_all_work_is_over(tmp_path: Path) -> None:
    def start() -> Process:
        return Process(("/bin/sleep", "600"), environment={}, stdout=tmp_path / "out", stderr=tmp_path / "err")

    with start() as held:
        with none_forgotten():
            forgotten = start().pid
        assert gone(forgotten)
        assert held.poll() is None
