"""Ctrl-C, TERM and HUP: acted on at once, but never in the middle of starting a process or of waiting for its end.

An exception from a signal's handler between a fork and the note that there is a child, or between wait4 and the note
that it has ended, would leave the two in disagreement: the child is forgotten, or waited for twice. Such steps are
``undivided``: what is told meanwhile is remembered, and raised at their end.

Python drops an exception that a finalizer raises, and so a Ctrl-C that comes just then. It is raised again a moment
later.
"""

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from tracetax.errors import ExitCode

HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 3
"""Ctrl-C or TERM for this time ends the program at once."""
AGAIN_SECONDS = 0.001
"""After this time a dropped KeyboardInterrupt is raised again."""


class _Told:
    """What the program has been told so far. A child between fork and exec has a copy, and tells nobody."""

    pid = 0
    holds = 0
    """Undivided steps that are being made."""
    pending = False
    times = 0
    hung_up = False
    dropped = False
    """Python has dropped a KeyboardInterrupt, which is still to be raised again."""
    last_resort: tuple[Callable[[], None], ...] = ()


@contextmanager
def heeded(last_resort: Callable[[], None]) -> Generator[None]:
    """Let Ctrl-C, TERM and HUP raise KeyboardInterrupt. Those that the caller has silenced, as nohup does, stay so.

    The third Ctrl-C or TERM calls ``last_resort``, which is to leave nothing running, and ends the program with
    status 130. Only the first HUP is heeded: shell and kernel send it one after the other. For the main thread.

    Where one was told, the program is about to end, and the signals are ignored from the block's end on. Python's own
    handler would else print a stack trace, or let the signal kill the program, in the middle of its last words.
    """
    _Told.pid, _Told.last_resort = os.getpid(), (last_resort,)
    _Told.times, _Told.pending, _Told.hung_up = 0, False, False
    numbers = [number for number in HEEDED if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, _tell) for number in numbers}
    try:
        with _never_dropped():
            yield
    finally:
        told = _Told.times or _Told.hung_up
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if told else handler)


def ignored() -> None:
    """Ignore Ctrl-C, TERM and HUP from now on: the program has only its last words to say."""
    for number in HEEDED:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _never_dropped() -> Generator[None]:
    """Raise KeyboardInterrupt again where Python can only drop it: in a finalizer or a callback of its collector."""
    report, alarmed = sys.unraisablehook, signal.getsignal(signal.SIGALRM)

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            _Told.dropped = True
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        else:
            report(dropped)

    def again(number: int, frame: FrameType | None) -> None:
        if os.getpid() == _Told.pid and _Told.dropped:
            _Told.dropped = False
            _raise_or_remember()
        elif callable(alarmed):  # somebody else's alarm
            alarmed(number, frame)

    _Told.dropped = False
    signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = report
        signal.signal(signal.SIGALRM, alarmed)
        if _Told.dropped:
            _Told.dropped = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt


@contextmanager
def undivided() -> Generator[None]:
    """Hold back what is told until the block's end, and raise it there as KeyboardInterrupt."""
    _Told.holds += 1
    try:
        yield
    finally:
        _Told.holds -= 1
        if _Told.pending and not _Told.holds:
            _Told.pending = False
            raise KeyboardInterrupt


@contextmanager
def unheard() -> Generator[Callable[[], None]]:
    """Block the signals in this thread, for a fork in it; gives what the child calls before it becomes a program.

    Without that, a signal to the group would run this program's handlers in the child.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HEEDED)

    def as_it_was() -> None:
        for number in HEEDED:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_IGN)  # forgets what has come
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        yield as_it_was
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tell(number: int, _frame: FrameType | None) -> None:
    if os.getpid() != _Told.pid or (number == signal.SIGHUP and _Told.hung_up):
        return
    _Told.hung_up |= number == signal.SIGHUP
    _Told.times += number != signal.SIGHUP
    if _Told.times >= PATIENCE:
        for last_resort in _Told.last_resort:
            last_resort()
        os._exit(ExitCode.INTERRUPTED)  # pyright: ignore[reportPrivateUsage]
    _raise_or_remember()


def _raise_or_remember() -> None:
    _Told.pending = bool(_Told.holds)
    if not _Told.pending:
        raise KeyboardInterrupt
