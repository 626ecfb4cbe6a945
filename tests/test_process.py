"""A child never outlives what started it, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tracetax.errors import UserError
from tracetax.process import Process, clean_environment, inherited_traps

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


def start(code: str, tmp_path: Path) -> Process:
    process = Process(
        (sys.executable, "-c", code), environment=dict(os.environ), stdout=tmp_path / "out", stderr=tmp_path / "err"
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
    assert inherited_traps(inherited) == ("JAVA_TOOL_OPTIONS", "OTEL_SERVICE_NAME")
