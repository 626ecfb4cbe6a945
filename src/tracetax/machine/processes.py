"""CPU and memory of a program that is several processes: a root, all that it starts, and what is left of them.

The sum leaves nobody out who can be seen, and counts nobody twice:

- A living process counts by its own clock, in ns. Beside it stands what its ended children had used. The kernel adds
  that to a parent when the parent waits for the child, and shows it in ticks: of each living parent it may be wrong by
  two ticks (20 ms).
- A child that ends moves from the first account to the second. So each look reads parents before their children, and
  begins anew where a known process ends in the middle of it. Whoever is seen alive is then in nobody's second account.
- Where a parent does not wait (it ignores SIGCHLD), the kernel gives a child's CPU to nobody. What the child was last
  seen to have used is kept. What it used after that is lost: at most the time between two looks, for each of its
  threads. A child that starts and ends between two searches is lost altogether, and not even wait4 tells. Less is kept
  where an ancestor waits, between the same two looks, for children that nobody saw: their CPU is taken for the child's.
- Processes whose parents have ended are handed to Tracetax (a child subreaper), which waits for them only at the end.

A process is known by its number and its start. Its file in /proc stays open and fails once the process is gone, even
where another has its number by then.
"""

import contextlib
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from types import TracebackType
from typing import Self

from msgspec import Struct

from tracetax.machine.process_files import (
    TICK_NS,
    Children,
    ProcessStat,
    children_now,
    newest_number,
    open_stat,
    pss_bytes_of,
    stat_in,
)
from tracetax.machine.threads import process_clock_ns
from tracetax.process import started

SEARCH_SECONDS = 0.1
"""New processes are searched for at most this often, and where none has been started anywhere on the machine hardly at
all; the known ones are read at every look."""
ANYHOW_SECONDS = 1.0
"""After this time they are searched for in any case."""
KEPT_STATS = 128
"""Files of processes that stay open; those of further ones are opened for every look."""
MOST_READINGS = 8
"""How often one look begins anew because processes end in the middle of it."""

_CUT_NS = 2 * TICK_NS
"""What the kernel cuts off at most where it shows the CPU of ended children: user and system time, a tick each."""


class TreeSample(Struct, frozen=True):
    """What the processes of a program had used at one moment."""

    at_ns: int
    """CLOCK_MONOTONIC."""
    cpu_ns: int
    """Since the program's start, ended processes included."""
    rss_bytes: int
    """Resident memory of all processes; a page that several share counts once for each."""
    processes: int
    """Those that live, and those that have ended and were not waited for."""


class _Member(Struct):
    """A process of the tree, as it was last seen."""

    pid: int
    file: int | None
    """Its account, open; None where it is opened for every look."""
    stat: ProcessStat
    clock_ns: int
    owed_ns: int = 0
    """CPU of ended children that is not in ``stat.children_ns`` yet: at most what the kernel cuts off."""
    gone: bool = False

    @property
    def total_ns(self) -> int:
        return self.clock_ns + self.stat.children_ns + self.owed_ns

    def close(self) -> None:
        if self.file is not None:
            os.close(self.file)
        self.file = None


class ProcessTree:
    """A program's processes over its life. Looks may come from several threads. Use as a context manager, or close."""

    def __init__(self, root: int, follow: bool, orphans: bool = True) -> None:
        """Begin with process ``root``, a child of this one; ``follow`` says whether others belong to it.

        A process that was handed to this one, and that nobody saw before, belongs to the tree that knows its session.
        ``orphans`` says whether those of sessions that no tree knows belong to this one: true of one tree at a time.
        Raises ProcessLookupError where ``root`` is gone.
        """
        self.root = root
        self.follow = follow
        self.cpu_ns = 0
        """As of the last look; stays when all processes are gone."""
        self.peak_rss_bytes = 0
        """The most resident memory of all processes together that a look has seen."""
        self.whole_cpu_ns: int | None = None
        """CPU of its whole life, as ``look_last`` has seen it; None before that, or where nothing could be seen."""
        self._orphans = orphans
        self._looking = threading.Lock()
        self._members: dict[int, _Member] = {}
        self._sessions: set[int] = set()
        self._kept_ns = self._excused_ns = 0
        self._asked_ns = self._searched_ns = -(10**18)
        self._newest: bytes = b""
        self._unchanged = 0
        self._own_pid, self._own_session = os.getpid(), os.getsid(0)
        self._admit(root, lambda _stat: True)
        if not self._members:
            raise ProcessLookupError(f"process {root} is gone")
        self._root_start = self._members[root].stat.start

    def look(self, *, search: bool = False) -> TreeSample:
        """Read every process now; ``search`` for new ones even where that was done just before.

        Raises OSError where none is left, or /proc cannot be read; ``cpu_ns`` then says what was seen at last. A last
        look that leaves nothing out comes when the root has ended and nobody has waited for it yet: ``os.waitid`` with
        WNOWAIT tells when.
        """
        with self._looking:
            if not self.follow:
                return self._look_at_root()
            stats = self._read()
            if stats is not None:
                self._settle(stats)
                self._search_if_due(search)
            return self._sum()

    def clock_ns(self, *, search: bool = False) -> int:
        """CPU of all processes now; of one that is alone nothing but its clock is read. Else as ``look``."""
        if self.follow:
            return self.look(search=search).cpu_ns
        self.cpu_ns = process_clock_ns(self.root)
        return self.cpu_ns

    def excuse_ended(self) -> None:
        """Of a root that is alone: do not miss the CPU of children that have ended by now.

        A script may have called them before it became the program.
        """
        with self._looking:
            stat = None if self.follow else _stat_of(self._members[self.root])
        self._excused_ns = stat.children_ns if stat else 0

    def look_last(self) -> None:
        """Look at a root that has ended and that nobody has waited for yet."""
        with contextlib.suppress(OSError):
            self.whole_cpu_ns = self.clock_ns(search=True) + self._excused_ns

    @property
    def others(self) -> tuple[int, ...]:
        """The numbers of all but the root, as of the last look."""
        with self._looking:
            return tuple(pid for pid in self._members if pid != self.root)

    def pss_bytes(self) -> int | None:
        """Resident memory, of shared pages the share of each process; None where the kernel does not show it.

        The kernel walks through all pages for that, ms for a large process: not to be asked while calls are measured.
        """
        with self._looking:
            shares = [_pss_bytes(member) for member in self._members.values()]
        known = [share for share in shares if share is not None]
        return sum(known) if len(known) == len(shares) else None

    def close(self) -> None:
        """Let go of all files."""
        with self._looking:
            for member in self._members.values():
                member.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _look_at_root(self) -> TreeSample:
        cpu_ns, at_ns = process_clock_ns(self.root), time.monotonic_ns()
        stat = _stat_of(self._members[self.root])
        if stat is None:
            raise ProcessLookupError(f"process {self.root} is gone")
        self.cpu_ns = cpu_ns
        return self._sample(at_ns, stat.rss_bytes, 1)

    def _read(self) -> dict[int, ProcessStat] | None:
        """All that are there, each read after whoever could have waited for it; None where they end all the time.

        A member stands behind those that it descends from. Where one is found to be gone, an account read before may
        or may not hold its CPU: all are read again, and now they do. So they are until one that is leaving is gone.
        """
        for _ in range(MOST_READINGS):
            here = {pid: member for pid, member in self._members.items() if not member.gone}
            stats = {pid: stat for pid, member in here.items() if (stat := _stat_of(member))}
            for pid in here.keys() - stats.keys():
                here[pid].gone = True
            if len(stats) == len(here) and not any(stat.leaving for stat in stats.values()):
                return stats
        return None

    def _settle(self, stats: dict[int, ProcessStat]) -> None:
        """Hand the CPU of those who are gone to those who have waited for them, and keep what nobody has.

        That is an ancestor: the parent, or a subreaper above it. An ancestor's account of ended children has grown by
        what it took over. What the account lacks, beyond what the kernel cuts off, goes on to the next one above. An
        account that has grown by more than is due holds children that nobody saw.
        """
        due = defaultdict[int, int](int)
        for member in [member for member in self._members.values() if member.gone]:
            due[self._heir(member, stats)] += member.total_ns
            member.close()
        self._members = {pid: member for pid, member in self._members.items() if not member.gone}
        for pid, member in reversed(self._members.items()):
            stat = stats[pid]
            grown = stat.children_ns - member.stat.children_ns
            member.owed_ns = max(0, member.owed_ns + due.pop(pid, 0) - grown)
            if member.owed_ns > _CUT_NS:
                due[stat.parent] += member.owed_ns - _CUT_NS
                member.owed_ns = _CUT_NS
            member.stat, member.clock_ns = stat, max(member.clock_ns, stat.cpu_ns)
        self._kept_ns += sum(due.values())

    def _heir(self, gone: _Member, stats: dict[int, ProcessStat]) -> int:
        """The nearest ancestor that is still there, by what was last seen; 0 where there is none in the tree."""
        parent = gone.stat.parent
        for _ in self._members:
            if parent in stats:
                return parent
            if parent not in self._members:
                break
            parent = self._members[parent].stat.parent
        return 0

    def _search_if_due(self, at_once: bool) -> None:
        """Search for new processes, unless nothing was started since two searches ago: one alone may overlook some."""
        now = time.monotonic_ns()
        if not at_once and now - self._asked_ns < SEARCH_SECONDS * 1e9:
            return
        newest = newest_number()
        self._unchanged = self._unchanged + 1 if newest and newest == self._newest else 0
        self._asked_ns, self._newest = now, newest
        if at_once or self._unchanged < 2 or now - self._searched_ns >= ANYHOW_SECONDS * 1e9:
            self._searched_ns = now
            self._search(children_now())

    def _search(self, children: Children) -> None:
        """Admit new descendants of members, and orphans with theirs; parents before children."""
        handed_over = [pid for pid in children(self._own_pid) if pid not in self._members]
        known = started()  # asked later: what was being started a moment ago is known now
        for pid in handed_over:
            if pid not in known:
                self._admit(pid, self._is_orphan)
        queue = list(self._members)
        for pid in queue:
            for child in children(pid):
                if child not in self._members and self._admit(child, lambda stat: stat.parent in self._members):
                    queue.append(child)

    def _is_orphan(self, stat: ProcessStat) -> bool:
        """Whether a child of this process that was not started here belongs to this tree.

        Tools that are called and waited for share this process's session. An older one belongs to somebody else.
        """
        if stat.parent != self._own_pid or stat.session == self._own_session or stat.start < self._root_start:
            return False
        return self._orphans or stat.session in self._sessions

    def _admit(self, pid: int, belongs: Callable[[ProcessStat], bool]) -> bool:
        """Take a process in unless it is gone, or its number is another's meanwhile that does not belong."""
        file = open_stat(pid)
        if file is None:
            return False
        stat = stat_in(file)
        if stat is None or stat.leaving or not belongs(stat):
            os.close(file)
            return False
        member = _Member(pid=pid, file=file, stat=stat, clock_ns=stat.cpu_ns)
        if len(self._members) >= KEPT_STATS:
            member.close()
        self._members[pid] = member
        self._sessions.add(stat.session)
        return True

    def _sum(self) -> TreeSample:
        """Add up, by the clocks of now. Who is gone by now counts as last seen, until its heir is known."""
        here = [member for member in self._members.values() if not member.gone]
        if not here:
            raise ProcessLookupError(f"process {self.root} is gone, and all that it has started")
        since = time.monotonic_ns()
        for member in here:
            with contextlib.suppress(OSError):
                member.clock_ns = max(member.clock_ns, process_clock_ns(member.pid))
        at_ns = (since + time.monotonic_ns()) // 2
        self.cpu_ns = self._kept_ns + sum(member.total_ns for member in self._members.values())
        return self._sample(at_ns, sum(member.stat.rss_bytes for member in here), len(here))

    def _sample(self, at_ns: int, rss_bytes: int, processes: int) -> TreeSample:
        self.peak_rss_bytes = max(self.peak_rss_bytes, rss_bytes)
        return TreeSample(at_ns, self.cpu_ns, rss_bytes, processes)


def disagreement(seen_ns: int, witness_ns: int) -> int:
    """By how much what looks have seen differs from what wait4 says, ns; 0 within 1 % and 20 ms.

    ``seen_ns``: CPU of a tree when its root had ended and nobody had waited for it yet. ``witness_ns``: what wait4 then
    said of the root and of the orphans. Looks that see less have lost processes. Looks that see more know of processes
    that no parent has waited for.
    """
    difference = seen_ns - witness_ns
    return difference if abs(difference) > witness_ns // 100 + 20_000_000 else 0


def _stat_of(member: _Member) -> ProcessStat | None:
    """What the kernel says of a process now; None where it is gone, whoever has its number."""
    if member.file is not None:
        return stat_in(member.file)
    file = open_stat(member.pid)
    if file is None:
        return None
    try:
        stat = stat_in(file)
    finally:
        os.close(file)
    return stat if stat and stat.start == member.stat.start else None


def _pss_bytes(member: _Member) -> int | None:
    """0 where the process has ended; None where the kernel does not show it."""
    share = pss_bytes_of(member.pid)
    return share if _stat_of(member) else 0
