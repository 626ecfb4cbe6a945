"""Starts the tool, and ends it: when it is asked for, and in any case with this script, even if that is killed."""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import ClassVar

ROOT = Path(__file__).resolve().parents[2]
TOOL = (sys.executable, "-m", "tracetax", "run")
POLL_SECONDS = 0.05
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
Words = Sequence[str]


class Stopped(BaseException):
    """The script was told to end: what this thread is doing is given up."""


class _Started:
    """All tools that were started. The lock may be taken again by a signal's handler in the thread that holds it."""

    tools: ClassVar[list[subprocess.Popen[bytes]]] = []
    lock = threading.RLock()
    stopped = False


def environment(**added: str) -> dict[str, str]:
    """The script's own environment, in which the tool is found."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200", **added}


def start(arguments: Words, log: Path, tool: Words = TOOL, **added: str) -> subprocess.Popen[bytes]:
    """Start the tool in a session of its own, its output in ``log``. Raises Stopped after ``stop``.

    The kernel ends it where this thread ends before; a Ctrl-C on the terminal does not reach it.
    """
    with _Started.lock:
        go_on()
        with log.open("ab") as stream:
            begun = subprocess.Popen(
                (*tool, *arguments),
                stdout=stream,
                stderr=stream,
                env=environment(**added),
                cwd=ROOT,
                start_new_session=True,
                preexec_fn=_set_up(os.getpid()),
            )
        _Started.tools.append(begun)
    return begun


def end(tool: subprocess.Popen[bytes]) -> None:
    """End a tool that runs, and the compilers that share its session; its other children die with it."""
    if tool.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)


def stop() -> None:
    """End all tools; none can be started any more, and who waits for one gets Stopped."""
    _Started.stopped = True
    with _Started.lock:
        for tool in _Started.tools:
            end(tool)


def heed_endings() -> None:
    """Let INT and TERM end all tools and then the script, and HUP unless nohup has silenced it.

    A shell has INT ignored where it starts a script in the background.
    """
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)

    def told(number: int, _frame: FrameType | None) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)  # cleaning up is not interrupted
        stop()
        raise SystemExit(128 + number)

    for each in numbers:
        signal.signal(each, told)


def go_on() -> None:
    """Raise Stopped after ``stop``."""
    if _Started.stopped:
        raise Stopped


def pause(seconds: float) -> None:
    """Wait. Raises Stopped after ``stop``."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        go_on()
        time.sleep(min(left, POLL_SECONDS))


def _set_up(parent: int) -> Callable[[], None]:
    """Code between fork and exec: die with the parent; a JVM that aborts leaves no image of its memory."""
    prctl, getppid, leave = _LIBC.prctl, os.getppid, os._exit

    def set_up() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if getppid() != parent:
            leave(127)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return set_up
