"""Whoever ends Tracetax, at whatever moment, ends it: nothing is swallowed, nothing is left, nothing is mistaken."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.run.stand_ins import ROOT
from tests.test_process import gone
from tracetax.signals import HEEDED, heeded, undivided

SIGNALS = 300
PATIENCE_SECONDS = 240
STARTS = """
import os, signal, subprocess, sys
from pathlib import Path
from tracetax.commands.console import console
from tracetax.commands.ending import ending_in_order
from tracetax.process import Process

def children():
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in found if " Z " not in Path(f"/proc/{pid}/stat").read_text()]

while True:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with ending_in_order(console()):
            print("ready", flush=True)
            while True:
                with Process(("/bin/true",), environment={}, stdout=Path("out"), stderr=Path("err")) as process:
                    process.close_input()
                    process.wait(5, interval=0.0005)
    except KeyboardInterrupt:
        print("told, left", len(children()), flush=True)
    except BaseException as error:
        print("mistaken for", repr(error), flush=True)
"""


@contextmanager
def running(code: str, folder: Path) -> Generator[subprocess.Popen[str]]:
    """A program in a session of its own, as on a terminal. One that no longer answers is ended, and its test fails."""
    with subprocess.Popen(
        (sys.executable, "-c", code),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        start_new_session=True,
    ) as process:
        too_long = threading.Timer(PATIENCE_SECONDS, process.kill)
        too_long.start()
        try:
            yield process
        finally:
            too_long.cancel()
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_signals_at_any_moment_around_the_start_of_a_process_are_all_heeded(tmp_path: Path) -> None:
    moments = random.Random(1)
    with running(STARTS, tmp_path) as process:
        answers: list[str] = []
        for _ in range(SIGNALS):
            assert line(process) == "ready"
            time.sleep(moments.uniform(0.0, 0.008))
            os.killpg(process.pid, moments.choice((signal.SIGINT, signal.SIGTERM)))
            answers.append(line(process))
    assert set(answers) == {"told, left 0"}, [answer for answer in answers if answer != "told, left 0"]


THIRD = """
import time
from tracetax.process import Process, kill_all
from tracetax.signals import heeded, undivided
from pathlib import Path
with heeded(kill_all):
    process = Process(("/bin/sleep", "600"), environment={}, stdout=Path("out"), stderr=Path("err"))
    print(process.pid, flush=True)
    with undivided():  # cleaning up, which takes long
        print("ready", flush=True)
        time.sleep(600)
"""


DAEMON = """import os, time
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("command", [("/bin/sleep", "600"), (sys.executable, "-c", DAEMON)])
def test_the_third_ctrl_c_ends_everything_at_once(tmp_path: Path, command: tuple[str, ...]) -> None:
    with running(THIRD.replace('("/bin/sleep", "600")', repr(command)), tmp_path) as process:
        child = int(line(process))
        assert line(process) == "ready"
        daemons = [daemon_of(tmp_path / "out")] if DAEMON in command else []
        for _ in range(3):
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert process.wait(20) == 130
        assert process.stderr and process.stderr.read() == ""
    assert all(map(gone, (child, *daemons)))


def daemon_of(output: Path) -> int:
    """The number that a process in another session has written into this file."""
    deadline = time.monotonic() + 20
    while not output.read_text().endswith("\n"):
        assert time.monotonic() < deadline, "it never starts"
        time.sleep(0.01)
    return int(output.read_text())


ENDING = """
import time
from tracetax.signals import heeded
try:
    with heeded(lambda: None):
        print("ready", flush=True)
        time.sleep(600)
except KeyboardInterrupt:
    print("told", flush=True)
    time.sleep(0.5)
    print("done", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_after_what_was_told_the_end_is_not_disturbed(tmp_path: Path, number: signal.Signals) -> None:
    with running(ENDING, tmp_path) as process:
        assert line(process) == "ready"
        process.send_signal(number)
        assert line(process) == "told"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert line(process) == "done"
        assert process.wait(20) == 0
        assert process.stderr and process.stderr.read() == ""


LISTED = """
import atexit, sys, time
from tracetax import cli
from tracetax.commands import listings

def show_list(*words, **options):
    print("ready", flush=True)
    time.sleep(600)

@atexit.register
def shut_down():
    print("ending", flush=True)
    time.sleep(0.5)

listings.show_list = show_list
sys.argv = ["tracetax", "list", "agents"]
cli.main()
"""


def test_a_command_that_is_interrupted_says_so_and_a_signal_at_its_end_changes_nothing(tmp_path: Path) -> None:
    with running(LISTED, tmp_path) as process:
        assert line(process) == "ready"
        process.send_signal(signal.SIGINT)
        assert line(process) == "ending"
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr and process.stderr.read() == "Interrupted.\n"


LOADED = """
import runpy, sys, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "tracetax.installed":
            print("ready", flush=True)
            time.sleep(600)

sys.meta_path.insert(0, Slow())
runpy.run_module("tracetax", run_name="__main__")
"""


def test_a_ctrl_c_while_the_program_is_loaded_shows_no_stack_trace(tmp_path: Path) -> None:
    with running(LOADED, tmp_path) as process:
        assert line(process) == "ready"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT
        assert process.stderr and process.stderr.read() == ""


HUNG_UP = """
import time
from tracetax.signals import heeded
with heeded(lambda: None):
    try:
        print("ready", flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        print("told", flush=True)
        time.sleep(0.5)
        print("done", flush=True)
"""


def test_a_terminal_that_closes_tells_more_than_once_and_is_heeded_once(tmp_path: Path) -> None:
    with running(HUNG_UP, tmp_path) as process:
        assert line(process) == "ready"
        process.send_signal(signal.SIGHUP)
        assert line(process) == "told"
        for _ in range(4):
            process.send_signal(signal.SIGHUP)
            time.sleep(0.02)
        assert line(process) == "done"
        assert process.wait(20) == 0


@pytest.fixture
def handlers_of_the_caller() -> Generator[None]:
    """Puts back what a told ``heeded`` leaves ignored."""
    before = {number: signal.getsignal(number) for number in HEEDED}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers_of_the_caller")
def test_what_is_told_in_an_undivided_step_is_raised_at_its_end() -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt), heeded(lambda: None):
        with undivided():
            os.kill(os.getpid(), signal.SIGTERM)
            steps.append("whole")
        steps.append("never")
    assert steps == ["whole"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN


def test_where_nothing_was_told_the_callers_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in HEEDED]
    with heeded(lambda: None):
        assert [signal.getsignal(number) for number in HEEDED] != before
    assert [signal.getsignal(number) for number in HEEDED] == before


class Finalized:
    """Where a signal comes while it is finalized, Python drops what the handler raises."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.usefixtures("handlers_of_the_caller")
def test_what_is_told_while_an_object_is_finalized_is_raised_a_moment_later() -> None:
    with pytest.raises(KeyboardInterrupt), heeded(lambda: None):
        Finalized()
        time.sleep(20)
        pytest.fail("it was dropped")


@pytest.mark.usefixtures("handlers_of_the_caller")
def test_what_is_told_in_a_finalizer_is_raised_at_the_latest_at_the_end() -> None:
    before = signal.getsignal(signal.SIGALRM), sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), heeded(lambda: None):
        Finalized()
    assert (signal.getsignal(signal.SIGALRM), sys.unraisablehook) == before


def test_an_alarm_of_somebody_else_stays_theirs() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with heeded(lambda: None):
            time.sleep(0.2)
        signal.setitimer(signal.ITIMER_REAL, 600)
        with heeded(lambda: None):
            pass
        seconds_left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]
    assert seconds_left > 0


CLOSED = """
import os, pty, signal, sys, time
child, terminal = pty.fork()
if child == 0:
    from tracetax import cli
    from tracetax.commands.console import console
    from tracetax.commands.ending import ending_in_order

    def command():
        screen = console()
        with ending_in_order(screen):
            try:
                screen.print("ready")
                time.sleep(600)
            except KeyboardInterrupt:
                pass
            screen.print("Interrupted. Go on with: ...")
        return 130

    cli.app = lambda **_: command()
    cli.main()
while b"ready" not in os.read(terminal, 1024):
    pass
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_run_whose_terminal_is_closed_ends_as_interrupted(tmp_path: Path) -> None:
    with running(CLOSED, tmp_path) as process:
        assert line(process) == "130"
