"""Start, watch and stop a process so that none is ever left behind.

Every child leads a process group of its own (a Ctrl-C on the terminal reaches only Tracetax, which then ends its
children in order) and dies with Tracetax, even if that is killed: Linux's parent-death signal. A process is ended by
closing its input, then TERM, then KILL, each to the process itself and its group, never to a wrapper. What it has
started and left behind outside its group is handed to Tracetax by the kernel (a "child subreaper"), and killed then.

A process that even KILL does not end waits inside the kernel, for a disk or a network file system that does not
answer. It is waited for briefly, named in an error, and left: the kernel ends it as soon as it wakes up.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from msgspec import Struct

from tracetax.child import AS_OTHERS, Apart, prctl, set_up
from tracetax.errors import ExitCode, UserError
from tracetax.orphans import killed_cpu_ns, orphans, usage_cpu_ns
from tracetax.signals import undivided, unheard

PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 10.0
"""How long a killed process may take to end before it is given up."""
LAST_SECONDS = 1.0
"""How long the last thing that this program does may take."""

KEPT_VARIABLES = ("PATH", "HOME", "TZ", "TMPDIR")


def clean_environment(source: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Build a child's environment from nothing: path, home, time zone, a fixed locale, and what is ``added``."""
    kept = {name: source[name] for name in KEPT_VARIABLES if name in source}
    return {**kept, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **added}


def inherited_traps(
    source: Mapping[str, str], names: Collection[str], prefixes: Iterable[str], *, own: bool = False
) -> tuple[str, ...]:
    """Names of variables in ``source`` that would have changed a program or an agent; they are never passed on.

    ``names`` are the runtime's, ``prefixes`` those of the agents' own variables. To a program of the user's ``own`` all
    are passed on but the agents'.
    """
    known = tuple(prefixes) if own else ("LD_", *prefixes)
    names = () if own else names
    return tuple(sorted(name for name in source if name in names or name.startswith(known)))


class Ending(Struct, frozen=True):
    """How a process ended, from wait4."""

    status: int
    """Exit status; a negative number is the signal that ended it."""
    cpu_ns: int
    max_rss_bytes: int
    ended_ns: int
    """CLOCK_MONOTONIC."""
    asked: str
    """What it took: ``itself``, ``TERM`` or ``KILL``."""
    involuntary_switches: int = 0
    """How often one of its threads was taken off its processor although it had more to do."""
    left_behind: int = 0
    """Its process number where not even KILL ended it in time; else 0."""

    @property
    def description(self) -> str:
        """The ending in words, for error messages."""
        if self.left_behind:
            return (
                f"does not end even by KILL: process {self.left_behind} waits inside the kernel, "
                "for a disk or a network file system that does not answer, and ends when that does"
            )
        if self.status < 0:
            return f"was ended by signal {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"


class Process:
    """A running child. Use as a context manager: leaving the block kills it if it still runs."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        stdout: Path | IO[bytes] | int,
        stderr: Path | IO[bytes] | int,
        directory: Path | None = None,
        cores: Collection[int] = (),
        apart: Apart = AS_OTHERS,
    ) -> None:
        """Start ``command`` directly, without a shell, on ``cores`` alone where some are named.

        Raises UserError where it cannot be started.
        """
        self.command = tuple(command)
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._foreign_orphans = frozenset(orphans(_ACTIVE))
        self.started_ns = time.monotonic_ns()
        self._asked = "itself"
        self._group_ended = False
        self.ending: Ending | None = None
        self.orphans_cpu_ns = 0
        """CPU of what it left behind and was handed to Tracetax, from wait4; known once that is killed."""
        self.before_reaping: Callable[[], None] | None = None
        """Called once when it has ended and nobody has waited for it yet, so that its accounts can still be read."""
        try:
            with undivided(), _STARTING:
                self._child = self._begin((stdout, stderr), environment, directory, cores, apart)
                self.pid = self._child.pid
                _ACTIVE.add(self.pid)
        except KeyboardInterrupt:  # told meanwhile: nobody else knows of it yet
            if hasattr(self, "_child"):
                self.kill()
            raise

    def _begin(
        self,
        outputs: tuple[Path | IO[bytes] | int, ...],
        environment: Mapping[str, str],
        directory: Path | None,
        cores: Collection[int],
        apart: Apart,
    ) -> "subprocess.Popen[bytes]":
        """Fork and become the command. Raises UserError where that fails."""
        try:
            with contextlib.ExitStack() as opened, unheard() as as_it_was:
                streams = [
                    opened.enter_context(target.open("ab")) if isinstance(target, Path) else target
                    for target in outputs
                ]
                return subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=streams[0],
                    stderr=streams[1],
                    env=dict(environment),
                    cwd=directory,
                    start_new_session=True,
                    preexec_fn=set_up(os.getpid(), cores, apart, as_it_was),
                    user=apart.user,
                    group=apart.group,
                    extra_groups=None if apart.user is None else (),
                )
        except subprocess.SubprocessError as error:
            raise UserError(
                f"{self.command[0]} cannot be started on the cores {sorted(cores)}: are they still there?\n"
                "What this machine gives is shown by: ./tracetax doctor",
                ExitCode.ENVIRONMENT,
            ) from error
        except OSError as error:
            raise UserError(
                f"{self.command[0]} cannot be started: {error.strerror or error}.\n"
                "Is it there, may it be executed, and is there memory for it?   (./tracetax doctor)",
                ExitCode.ENVIRONMENT,
            ) from error

    @property
    def stdout(self) -> IO[bytes]:
        """The read end of its standard output; only where it was started with a pipe."""
        assert self._child.stdout is not None
        return self._child.stdout

    def write_line(self, line: str) -> None:
        """Write one line to its standard input. Raises BrokenPipeError where it no longer reads."""
        assert self._child.stdin is not None
        self._child.stdin.write(line.encode() + b"\n")
        self._child.stdin.flush()

    def ask_for_threads(self, by: str) -> None:
        """Ask a program what its threads are doing, by a signal such as ``QUIT``; it gets a moment to print that."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.Signals[f"SIG{by}"])
        self.wait(0.5)

    def close_input(self) -> None:
        """Close its standard input: the ordinary request to end."""
        assert self._child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()

    def poll(self) -> Ending | None:
        """Its ending, or None while it runs."""
        if self.ending is None:
            with undivided():
                self._reap()
        return self.ending

    def _reap(self) -> None:
        if self.before_reaping:
            if not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                return
            self.before_reaping()
            self.before_reaping = None
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid:
            _ACTIVE.discard(pid)
            code = os.waitstatus_to_exitcode(status)
            self._child.returncode = code
            self.ending = Ending(
                status=code,
                cpu_ns=usage_cpu_ns(usage),
                max_rss_bytes=usage.ru_maxrss * 1024,
                ended_ns=time.monotonic_ns(),
                asked=self._asked,
                involuntary_switches=usage.ru_nivcsw,
            )

    def wait(self, seconds: float, interval: float = 0.01) -> Ending | None:
        """Its ending within ``seconds``, or None."""
        deadline = time.monotonic() + seconds
        while (ending := self.poll()) is None and time.monotonic() < deadline:
            time.sleep(interval)
        return ending

    def stop(self, grace: float = 10.0, term_grace: float = 5.0) -> Ending:
        """End it: close its input and wait ``grace`` seconds, then TERM, then KILL."""
        self.close_input()
        if ending := self.wait(grace):
            self._kill_group()
            return ending
        self._signal(signal.SIGTERM, "TERM")
        if ending := self.wait(term_grace):
            self._kill_group()
            return ending
        return self.kill()

    def end_by(self, name: str, seconds: float) -> Ending:
        """Ask it alone to end by a signal such as ``TERM``, wait so many seconds, then KILL it and its group."""
        self._asked = name
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.Signals[f"SIG{name}"])
        if ending := self.wait(seconds):
            self._kill_group()
            return ending
        return self.kill()

    def kill(self) -> Ending:
        """End it, its group and what it left outside of that, at once; says so where it does not end."""
        with undivided():
            ending = self.poll()
            if ending is None:
                self._signal(signal.SIGKILL, "KILL")
                ending = self.wait(KILL_SECONDS) or self._give_up()
            self._kill_group()
        return ending

    def _give_up(self) -> Ending:
        """Leave it to the kernel: it has its KILL, and would keep everything else waiting."""
        self._child.returncode = -signal.SIGKILL
        _LEFT_BEHIND[self.pid] = self.command[0]
        self.ending = Ending(
            status=-signal.SIGKILL,
            cpu_ns=0,
            max_rss_bytes=0,
            ended_ns=time.monotonic_ns(),
            asked="KILL",
            left_behind=self.pid,
        )
        return self.ending

    def _signal(self, number: signal.Signals, name: str) -> None:
        self._asked = name
        for send, target in ((os.kill, self.pid), (os.killpg, self.pid)):
            with contextlib.suppress(ProcessLookupError):
                send(target, number)

    def _kill_group(self) -> None:
        """End what the process may have left in its group and outside, once: later the number may be another's."""
        if self._group_ended:
            return
        self._group_ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._kill_orphans()

    def _kill_orphans(self) -> None:
        """End what it left outside its group; their own children become orphans in turn."""
        deadline = time.monotonic() + KILL_SECONDS
        while left := orphans(_ACTIVE) - self._foreign_orphans:
            self.orphans_cpu_ns += killed_cpu_ns(left)
            if time.monotonic() > deadline:
                return
            time.sleep(0.001)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with undivided():
            self.kill()
            self.close_input()
            if self._child.stdout is not None:
                self._child.stdout.close()


_ACTIVE: set[int] = set()
"""Children that run, each the leader of a session of its own."""
_STARTING = threading.Lock()
"""Held from before the fork until the child is among ``_ACTIVE``."""
_LEFT_BEHIND: dict[int, str] = {}


def started() -> frozenset[int]:
    """Children that were started here and are not waited for yet; one that is being started is awaited.

    Whoever has listed this process's children before asking finds each child of its own here that was in the list.
    """
    with _STARTING:
        return frozenset(_ACTIVE)


def kill_all() -> None:
    """End every child that runs, its group, and what was outside of that: the last thing that this program does.

    What it started elsewhere is handed over when it has ended. That is awaited, but not for long.
    """
    active, deadline = tuple(_ACTIVE), time.monotonic() + LAST_SECONDS
    for pid in active:
        _kill_at_once(pid)
    while time.monotonic() < deadline:
        all_ended = all(map(_has_ended, active))
        left = orphans(_ACTIVE)
        if all_ended and not left:
            return
        killed_cpu_ns(left)
        time.sleep(0.001)


def _has_ended(pid: int) -> bool:
    """Whether a child has ended; it may still have to be waited for."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:
        return True


def _kill_at_once(pid: int) -> None:
    """Kill a child and its group, without waiting."""
    for send in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(pid, signal.SIGKILL)


@contextmanager
def none_forgotten() -> Generator[None]:
    """End at the block's end what was started in it and still runs.

    Nobody holds such a child any more: Ctrl-C came after its start, and before its block began. It is waited for, but
    not for ever.
    """
    others = frozenset(_ACTIVE)
    try:
        yield
    finally:
        forgotten = _ACTIVE - others - _LEFT_BEHIND.keys()
        deadline = time.monotonic() + KILL_SECONDS
        for pid in forgotten:
            _kill_at_once(pid)
            with contextlib.suppress(ChildProcessError):
                while not os.waitpid(pid, os.WNOHANG)[0] and time.monotonic() < deadline:
                    time.sleep(0.001)
            _ACTIVE.discard(pid)


def left_behind() -> dict[int, str]:
    """Processes that not even KILL has ended yet, with their programs."""
    for pid in list(_LEFT_BEHIND):
        with contextlib.suppress(ChildProcessError):
            if not os.waitpid(pid, os.WNOHANG)[0]:
                continue
        _ACTIVE.discard(pid)
        del _LEFT_BEHIND[pid]
    return dict(_LEFT_BEHIND)
