"""CPU of other processes by thread, from the kernel's nanosecond accounts, and what each thread is there for.

``/proc/PID/task/TID/schedstat`` counts the nanoseconds that a thread was on a processor; a thread that has ended is
gone from it. The process's own clock goes on counting those, so the two together leave nothing out. Both are brought up
to date when a thread leaves its processor and at the scheduler's tick, so a running thread may be some ms behind.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tracetax.program import ThreadNames

Group = Literal["caller", "agent", "jit", "gc", "jvm"]

KEPT_FILES = 256
"""Accounts that stay open; those of further threads are opened for every look."""


class ThreadCpu(Struct):
    """One thread: its name, and its CPU when it was last seen."""

    name: str
    cpu_ns: int


def group_of(name: str, known: ThreadNames) -> Group:
    """What a thread is there for, by its name; what is neither the runtime's nor the driver's is the agent's."""
    groups: dict[Group, tuple[str, ...]] = {
        "caller": known.caller,
        "jit": known.jit,
        "gc": known.gc,
        "jvm": known.own,
    }
    for group, patterns in groups.items():
        for pattern in patterns:
            if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
                return group
    return "agent"


def process_clock_ns(pid: int) -> int:
    """CPU of all threads of a process since its start, ended ones included. Raises OSError where it is gone."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def peak_rss_bytes(pid: int) -> int:
    """The most memory that a process has had resident so far; 0 where it is gone."""
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/status").open(errors="replace") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


class Work(Struct, frozen=True):
    """What a group of threads has used since they started, and whether one of them has or wants a processor."""

    cpu_ns: int
    wanted: bool


def compiling(pid: int, known: ThreadNames) -> Work:
    """The work of a runtime's compilers that live; none where the process is gone, or has none."""
    used, wanted = 0, False
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/task") as threads:
        for thread in threads:
            with contextlib.suppress(OSError):  # a compiler ends where there is little to compile
                name, state = _name_and_state(Path(thread.path, "stat").read_text(errors="replace"))
                if group_of(name, known) == "jit":
                    used += int(Path(thread.path, "schedstat").read_bytes().split(maxsplit=1)[0])
                    wanted = wanted or state == "R"
    return Work(used, wanted)


def _name_and_state(stat: str) -> tuple[str, str]:
    name, _, rest = stat.partition("(")[2].rpartition(")")
    return name, rest.split(maxsplit=1)[0]


class Threads:
    """The threads of a program over its life; those that have ended keep what they were last seen to have used."""

    def __init__(self, pid: int) -> None:
        """``pid`` is its first process; nothing is read yet."""
        self.seen: list[ThreadCpu] = []
        self._folder = f"/proc/{pid}/task"
        self._living: dict[str, tuple[ThreadCpu, int]] = {}
        self._new: set[str] = set()

    def look(self, others: Iterable[int] = (), *, names: bool = False) -> None:
        """Bring ``seen`` up to date. A thread gets its name soon after it starts: new ones, or all, are asked again.

        ``others`` are further processes of the program that live. Raises OSError where the first one is gone.
        """
        again, self._new = set(self._living) if names else self._new, set()
        present = _threads_in(self._folder)
        for pid in others:
            with contextlib.suppress(OSError):
                present += _threads_in(f"/proc/{pid}/task")
        for folder in present:
            known = self._living.get(folder)
            if known is None or not self._read(folder, *known):
                # its number may have gone to another thread since
                self._forget(folder)
                self._begin(folder)
            elif folder in again:
                known[0].name = self._name(folder) or known[0].name
        for folder in self._living.keys() - set(present):
            self._forget(folder)

    def close(self) -> None:
        """Let go of all files."""
        for folder in list(self._living):
            self._forget(folder)

    def _begin(self, folder: str) -> None:
        thread = ThreadCpu(name=self._name(folder), cpu_ns=0)
        file = -1
        if len(self._living) < KEPT_FILES:
            with contextlib.suppress(OSError):
                file = os.open(f"{folder}/schedstat", os.O_RDONLY)
        if self._read(folder, thread, file):
            self._living[folder] = thread, file
            self._new.add(folder)
            self.seen.append(thread)
        elif file >= 0:
            os.close(file)

    def _read(self, folder: str, thread: ThreadCpu, file: int) -> bool:
        """Read a thread's account; False where it has ended."""
        try:
            text = os.pread(file, 64, 0) if file >= 0 else Path(f"{folder}/schedstat").read_bytes()
        except OSError:
            return False
        thread.cpu_ns = int(text.split(maxsplit=1)[0])
        return True

    def _name(self, folder: str) -> str:
        with contextlib.suppress(OSError):
            return Path(f"{folder}/comm").read_text(errors="replace").rstrip("\n")
        return ""

    def _forget(self, folder: str) -> None:
        _, file = self._living.pop(folder, (None, -1))
        if file >= 0:
            os.close(file)


def _threads_in(folder: str) -> list[str]:
    """The folders of the threads that a process has. Raises OSError where it is gone."""
    with os.scandir(folder) as entries:
        return [entry.path for entry in entries]
