"""A kernel with processes of the test's making: what /proc and the process clocks show, and who gets whose CPU."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

MS = 1_000_000
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
TRACETAX = os.getpid()


@dataclass
class FakeProcess:
    """One process; CPU in ns, as the kernel keeps it."""

    pid: int
    parent: int
    session: int
    start: int
    cpu_ns: int = 0
    children_ns: int = 0
    pages: int = 1
    state: str = "S"
    waits: bool = True
    """Whether it waits for its children; else it ignores SIGCHLD."""
    subreaper: bool = False
    group: int = 1


class Kernel:
    """Processes below this one, which is a subreaper and waits for nobody."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, listed: bool) -> None:
        """``listed``: whether /proc has lists of children."""
        self.folder, self.listed = folder, listed
        self.processes: dict[int, FakeProcess] = {}
        self.burned_ns = 0
        """CPU of all processes that there were."""
        self.started: set[int] = set()
        self._start = 100
        self.tells_newest = False
        """Whether /proc says which process was started last."""
        patch.setattr("tracetax.machine.process_files.PROC", str(folder))
        patch.setattr("tracetax.machine.processes.KEPT_STATS", 0)  # an open file would outlive its process here
        patch.setattr("tracetax.machine.processes.process_clock_ns", self.clock)
        patch.setattr("tracetax.machine.processes.started", lambda: frozenset(self.started))

    def fork(self, pid: int, parent: int = TRACETAX, ms: int = 0, session: int = 1) -> FakeProcess:
        self._start += 1
        process = FakeProcess(pid, parent, session, self._start)
        self.processes[pid] = process
        self.burn(pid, ms)
        return process

    def burn(self, pid: int, ms: int) -> None:
        self.processes[pid].cpu_ns += ms * MS
        self.burned_ns += ms * MS
        self.show()

    def end(self, pid: int) -> None:
        """End a process whose parent waits for it, or ignores it; one of Tracetax's own stays as a zombie."""
        ended = self.processes[pid]
        for child in self.processes.values():
            if child.parent == pid:
                child.parent = self._subreaper_above(ended)
        parent = self.processes.get(ended.parent)
        if parent is None:
            ended.state = "Z"
        else:
            del self.processes[pid]
            if parent.waits:
                parent.children_ns += ended.cpu_ns + ended.children_ns
        self.show()

    def _subreaper_above(self, process: FakeProcess) -> int:
        while above := self.processes.get(process.parent):
            if above.subreaper:
                return above.pid
            process = above
        return TRACETAX

    def clock(self, pid: int) -> int:
        if pid not in self.processes:
            raise ProcessLookupError
        return self.processes[pid].cpu_ns

    def show(self) -> None:
        """Write what there is to be seen into /proc."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for process in self.processes.values():
            folder = self.folder / str(process.pid)
            folder.mkdir()
            (folder / "stat").write_text(self._stat(process))
        if self.tells_newest:
            (self.folder / "loadavg").write_text(f"0.20 0.18 0.12 1/80 {self._start}\n")
        if self.listed:
            (self.folder / "thread-self").mkdir()
            (self.folder / "thread-self" / "children").touch()
            for pid in (TRACETAX, *self.processes):
                children = [process.pid for process in self.processes.values() if process.parent == pid]
                self._list(pid, children)

    def _list(self, pid: int, children: list[int]) -> None:
        """Two threads of a process, each with some of its children."""
        for thread in (0, 1):
            folder = self.folder / str(pid) / "task" / str(pid + thread)
            folder.mkdir(parents=True)
            (folder / "children").write_text("".join(f"{child} " for child in children[thread::2]))

    @staticmethod
    def _stat(process: FakeProcess) -> str:
        """A line of /proc/PID/stat of a process with a wild name, CPU cut to ticks: of children, 30 ms stay whole."""
        user = process.children_ns // 3
        cpu = [process.cpu_ns // TICK_NS, 0, user // TICK_NS, (process.children_ns - user) // TICK_NS]
        named = f"{process.pid} (a) S 1 (b) {process.state} {process.parent} {process.group} {process.session}"
        times = " ".join(map(str, cpu))
        return f"{named} 0 -1 4194304 0 0 0 0 {times} 20 0 1 0 {process.start} 4096 {process.pages} 0\n"
