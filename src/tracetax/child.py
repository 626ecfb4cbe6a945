"""How a child begins: as whom, on which cores, and what becomes of it where Tracetax is killed."""

import ctypes
import os
import signal
from collections.abc import Callable, Collection

from msgspec import Struct

PR_SET_PDEATHSIG = 1
prctl = ctypes.CDLL(None, use_errno=True).prctl


class Apart(Struct, frozen=True):
    """In what a child is not like others: as whom it runs, and the signal that it gets where Tracetax is killed."""

    user: int | None = None
    group: int | None = None
    dies_by: int = signal.SIGKILL
    enters: tuple[str, ...] = ()
    """Files of control groups that it enters by writing 0 into them."""


AS_OTHERS = Apart()


def set_up(parent: int, cores: Collection[int], apart: Apart, as_it_was: Callable[[], None]) -> Callable[[], None]:
    """Code for the child between fork and exec: enter groups, take cores; die with the parent, if that is gone too.

    It runs as the child's user: the kernel forgets that signal where the user changes. Last it hears signals again,
    ``as_it_was``.
    """
    getppid, leave, within = os.getppid, os._exit, prctl
    bind, wanted, dies_by = os.sched_setaffinity, frozenset(cores), apart.dies_by
    opened, write, entrances = os.open, os.write, apart.enters

    def begin() -> None:
        for entrance in entrances:
            write(opened(entrance, os.O_WRONLY | os.O_CLOEXEC), b"0")
        if wanted:
            bind(0, wanted)
        within(PR_SET_PDEATHSIG, int(dies_by), 0, 0, 0)
        if getppid() != parent:
            leave(127)
        as_it_was()

    return begin
