"""What /proc shows of processes: an account of each, who is whose child, and whether any was started.

Many files are read at every look, so they are read without pathlib, at a quarter of its cost.
"""

import contextlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

PROC = "/proc"
GONE = FileNotFoundError, ProcessLookupError
"""How opening a process's file fails once it is gone. Other errors, as of too many open files, say nothing about it."""
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
"""The unit in which the kernel shows most CPU times."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LARGEST_STAT = 1_024
_READ_AT_ONCE = 65_536

Children = Callable[[int], Iterable[int]]
"""The children of a process, by its number; none where it is gone."""


class ProcessStat(Struct, frozen=True):
    """What /proc/PID/stat says of a process."""

    leaving: bool
    """Its parent waits for it at this moment: it may be in the parent's account already, and is still to be seen.

    Or one of its threads becomes another program at this moment, and takes its number over.
    """
    parent: int
    session: int
    cpu_ns: int
    """Of all its threads, in whole ticks."""
    children_ns: int
    """Of ended children that it has waited for, and of theirs: user and system time, each in whole ticks."""
    start: int
    """Ticks since the machine's start."""
    rss_bytes: int
    """0 where its first thread has ended, even if others live."""


def open_stat(pid: int) -> int | None:
    """Open a process's account; None where it is gone. Reading fails once it is, whoever has its number by then."""
    try:
        return os.open(f"{PROC}/{pid}/stat", os.O_RDONLY)
    except GONE:
        return None


def stat_in(file: int) -> ProcessStat | None:
    """Read an open account; None where the process is gone."""
    try:
        text = os.pread(file, _LARGEST_STAT, 0)
    except ProcessLookupError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return ProcessStat(
        leaving=fields[0] == b"X" or fields[2] == b"-1",  # without a group it is being taken down: its accounts are 0
        parent=int(fields[1]),
        session=int(fields[3]),
        cpu_ns=(int(fields[11]) + int(fields[12])) * TICK_NS,
        children_ns=(int(fields[13]) + int(fields[14])) * TICK_NS,
        start=int(fields[19]),
        rss_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def children_now() -> Children:
    """How children are found: the kernel lists them by thread; where it was built without that, all are asked."""
    if Path(f"{PROC}/thread-self/children").exists():
        return _listed_children
    by_parent = defaultdict[int, list[int]](list)
    for folder in Path(PROC).glob("[0-9]*"):
        with contextlib.suppress(*GONE, PermissionError):
            text = _content(f"{folder}/stat")
            by_parent[int(text[text.rindex(b")") + 2 :].split(maxsplit=2)[1])].append(int(folder.name))
    return lambda pid: by_parent.get(pid, ())


def _listed_children(pid: int) -> list[int]:
    """The children that any thread of a process has. The list may lack some while others end: a later one has them."""
    found: list[int] = []
    with contextlib.suppress(*GONE, PermissionError), os.scandir(f"{PROC}/{pid}/task") as threads:
        for thread in threads:
            with contextlib.suppress(*GONE):  # its children belong to another thread now
                found += map(int, _content(f"{thread.path}/children").split())
    return found


def newest_number() -> bytes:
    """The number of the process or thread that was started last on this machine; empty where it is not shown."""
    try:
        return _content(f"{PROC}/loadavg").split()[-1]
    except (OSError, IndexError):
        return b""


def pss_bytes_of(pid: int) -> int | None:
    """Resident memory, of shared pages a share. 0 where the process has ended, None where the kernel does not tell."""
    folder = Path(f"{PROC}/{pid}")
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except ProcessLookupError:
        return 0
    except FileNotFoundError:
        return None if folder.exists() else 0
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _content(path: str) -> bytes:
    """A file of the kernel's, of any length."""
    file = os.open(path, os.O_RDONLY)
    try:
        content = b""
        while part := os.read(file, _READ_AT_ONCE):
            content += part
        return content
    finally:
        os.close(file)
