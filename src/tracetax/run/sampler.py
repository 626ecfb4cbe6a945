"""CPU of the workload's threads while it runs: looked at again and again, so that those which end are counted too."""

import bisect
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from types import TracebackType
from typing import Self, get_args

from msgspec import Struct

from tracetax.machine.processes import ProcessTree
from tracetax.machine.threads import Group, Threads, group_of
from tracetax.program import ThreadNames
from tracetax.results.records import CpuAccount, CpuTimes

LONGEST_SECONDS = 0.1
SHORTEST_SECONDS = 0.005
SHARE_OF_WINDOW = 0.1
"""A look follows the one before after this share of the time since the first call, so that short windows are seen as
finely as long ones and the looks cost the same share of them."""
LEAST_WAIT_NS = 500_000_000
"""The shortest quiet wait after the drain of which the CPU is told."""
NAMED_THREADS = 12
SECOND_NS = 1_000_000_000
SAMPLES_IN_A_SECOND = round(1 / SHORTEST_SECONDS) + 50
"""Samples of one second at the shortest distance, with room for looks that were asked for between."""
_GROUPS: tuple[Group, ...] = get_args(Group)


class Sample(Struct, frozen=True):
    """What a program had used at one moment, ns since its start, thread by thread."""

    at_ns: int
    process: int
    """All its processes together."""
    threads: tuple[int, ...]
    """In the order in which they were first seen; a later sample may have more."""


class Sampler:
    """Looks at a program from a thread of its own, between ``start`` and ``end``. Leaving the context ends it, too."""

    def __init__(self, tree: ProcessTree, known: ThreadNames) -> None:
        """``tree``: a program that runs and has not been waited for; ``known`` says what its threads are there for."""
        self._tree = tree
        self._known = known
        self._threads = Threads(tree.root)
        self._samples: list[Sample] = []
        self._first_call_ns = 0
        self._over = threading.Event()
        self._looking = threading.Lock()
        self._thread = threading.Thread(target=self._follow, name="sampler", daemon=True)

    def start(self) -> None:
        """Begin to look; to be done before the first call."""
        self.look(search=True)
        self._thread.start()

    def began(self, first_call_ns: int) -> None:
        """The calls have begun: from now on looks are as frequent as the window is short."""
        self._first_call_ns = first_call_ns
        self.look()

    def counts_from(self, started_ns: int) -> None:
        """Count from the start of the process on, when it had used nothing."""
        with self._looking:
            self._samples.insert(0, Sample(started_ns, 0, ()))

    def end(self) -> None:
        """Look a last time, unless it was never started or has ended before."""
        if self._thread.is_alive():
            self._over.set()
            self._thread.join()
            self.look(names=True, search=True)
        self._threads.close()

    def look(self, *, names: bool = False, search: bool = False) -> None:
        """Take a sample now, ``search`` for new processes before it; a program that is gone leaves none."""
        with self._looking:
            try:
                before, since = self._tree.clock_ns(search=search), time.monotonic_ns()
                self._threads.look(self._tree.others, names=names)
                after, until = self._tree.clock_ns(), time.monotonic_ns()
            except OSError:
                return
            used = tuple(thread.cpu_ns for thread in self._threads.seen)
            self._samples.append(Sample((since + until) // 2, (before + after) // 2, used))

    def agent_cores(self) -> float:
        """Cores that the agent's threads, and the garbage collector's for them, used in the last second that was seen.

        0 where the process cannot be looked at, or has been for less than that.
        """
        with self._looking:
            names, samples = [thread.name for thread in self._threads.seen], self._samples[-SAMPLES_IN_A_SECOND:]
        return cores_of(samples, names, ("agent", "gc"), self._known)

    def account(self, first_call_ns: int, last_call_ns: int, drained_ns: int) -> CpuAccount | None:
        """What was used between these moments, as ``account_of`` tells."""
        names = [thread.name for thread in self._threads.seen]
        return account_of(self._samples, names, first_call_ns, last_call_ns, drained_ns, self._known)

    def _follow(self) -> None:
        while not self._over.wait(self._pause()):
            self.look()

    def _pause(self) -> float:
        if self._tree.follow or not self._first_call_ns:
            return LONGEST_SECONDS
        elapsed = (time.monotonic_ns() - self._first_call_ns) / 1e9
        return min(LONGEST_SECONDS, max(SHORTEST_SECONDS, elapsed * SHARE_OF_WINDOW))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def account_of(
    samples: list[Sample],
    names: list[str],
    first_call_ns: int,
    last_call_ns: int,
    drained_ns: int,
    known: ThreadNames,
) -> CpuAccount | None:
    """What threads of these ``names`` used from the first call on, interpolated between the samples around each moment.

    None where the process could not be looked at before and after all of them, or the kernel keeps no accounts of
    threads: the callers' share could not be told from the rest.
    """
    if not samples or samples[0].at_ns > first_call_ns or samples[-1].at_ns < drained_ns:
        return None
    if not any(samples[-1].threads):
        return None
    first, last, drained = (at(samples, moment, len(names)) for moment in (first_call_ns, last_call_ns, drained_ns))
    end = samples[-1]
    waited = end.at_ns - drained_ns
    by_name = defaultdict[str, int](int)
    for name, begun, done in zip(names, first.threads, drained.threads, strict=True):
        by_name[name] += done - begun
    busiest = sorted(by_name.items(), key=lambda item: -item[1])[:NAMED_THREADS]
    return CpuAccount(
        to_last_call=_between(first, last, names, known),
        to_drained=_between(first, drained, names, known),
        waiting_cores=(end.process - drained.process) / waited if waited >= LEAST_WAIT_NS else None,
        threads={name: used for name, used in busiest if used > 0},
    )


def cores_of(samples: list[Sample], names: list[str], groups: Sequence[Group], known: ThreadNames) -> float:
    """Cores that the threads of these groups used in the last second of the samples; 0 where they span less."""
    if not samples or samples[-1].at_ns - samples[0].at_ns < SECOND_NS:
        return 0.0
    until = samples[-1].at_ns
    used = _between(at(samples, until - SECOND_NS, len(names)), at(samples, until, len(names)), names, known)
    return sum(getattr(used, group) for group in groups) / SECOND_NS


def at(samples: list[Sample], moment_ns: int, threads: int) -> Sample:
    """What had been used at a moment, by a straight line between the samples around it, for so many ``threads``."""
    after = min(bisect.bisect_left(samples, moment_ns, key=lambda sample: sample.at_ns), len(samples) - 1)
    before = max(0, after - 1)
    a, b = samples[before], samples[after]
    share = min(1.0, max(0.0, (moment_ns - a.at_ns) / max(1, b.at_ns - a.at_ns)))

    def between(low: int, high: int) -> int:
        return low + round(share * (high - low))

    low, high = (sample.threads + (0,) * (threads - len(sample.threads)) for sample in (a, b))
    return Sample(at_ns=moment_ns, process=between(a.process, b.process), threads=tuple(map(between, low, high)))


def _between(start: Sample, end: Sample, names: list[str], known: ThreadNames) -> CpuTimes:
    used = dict.fromkeys(_GROUPS, 0)
    for name, before, after in zip(names, start.threads, end.threads, strict=True):
        used[group_of(name, known)] += after - before
    return CpuTimes(**used, ended=end.process - start.process - sum(used.values()))
