"""Which processors the workload gets for itself, and which its companions and the tool: a plan, made once per run."""

import math
import os
from collections import defaultdict
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from tracetax.machine.limits import read_limits, usable_cores

FEW_CORES = 4
"""With fewer, nothing is pinned: the agent's threads and the sink compete with the calls."""
CORES_FOR_TWO_COMPANIONS = 8
"""Physical cores that a run may keep busy from which on the companions get two of them."""
_FULL_CAPACITY = 1024


class Isolation(Struct, frozen=True):
    """The processors (as Linux numbers them) of a run's processes; nothing is pinned where ``workload`` is empty."""

    workload: tuple[int, ...] = ()
    companions: tuple[int, ...] = ()
    """Cores of the sink, and of the tool itself while it measures."""
    allowed: tuple[int, ...] = ()
    """All processors that this process may run on."""
    processors: int = 1
    """How many processors the workload may keep busy."""
    nodes: int = 1
    """How many NUMA nodes the processors lie on."""
    words: str = "nothing is pinned"

    @property
    def watched(self) -> tuple[int, ...]:
        """Processors on which somebody else's work would disturb a trial."""
        return (*self.workload, *self.companions) if self.workload else self.allowed

    @property
    def share(self) -> float:
        """The part of others' work on the watched processors that is expected to meet the trial.

        Less than 1 in a container with a quota and without processors of its own: it sees the whole host's work.
        """
        return 1.0 if self.workload or not self.allowed else min(1.0, self.processors / len(self.allowed))


def isolation_here(root: Path = Path("/")) -> Isolation:
    """The plan for what this process may use now."""
    return plan(os.sched_getaffinity(0), read_limits(root).cpus, usable_cores(root), root)


def plan(allowed: Collection[int], quota: float | None, usable: int, root: Path = Path("/")) -> Isolation:
    """Divide ``allowed`` processors by the topology that the kernel shows under ``root``.

    Threads of one physical core stay together, all processors are of one NUMA node where one is large enough, and the
    workload's are of one kind. The companions get the lowest core, where most interrupts arrive. No more processors
    are used than the ``quota`` can keep busy, so that nothing is throttled.
    """
    budget = len(allowed) if quota is None else min(len(allowed), math.floor(quota))
    free = Isolation(allowed=tuple(sorted(allowed)), processors=usable, words="nothing is pinned")
    if budget < FEW_CORES:
        return _because(free, f"{max(1, budget)} {'core is' if budget <= 1 else 'cores are'} too few to share out")
    cores = _physical_cores(_one_node(allowed, root), root)
    if len(cores) < 2:
        return _because(free, "all processors are threads of one physical core")
    cores.sort(key=lambda core: (_capacity(core[0], root), core))
    fitting = sum(1 for processors in accumulate(map(len, cores)) if processors <= budget)
    if fitting < 2:
        return _because(free, "the quota is that of one physical core")
    count = 2 if fitting >= CORES_FOR_TWO_COMPANIONS else 1
    companions = tuple(sorted(sum(cores[:count], ())))
    fastest = max(_capacity(core[0], root) for core in cores)
    candidates = [core for core in cores[count:] if _capacity(core[0], root) == fastest]
    workload = candidates[0]
    for core in candidates[1:]:
        if len(companions) + len(workload) + len(core) <= budget:
            workload += core
    workload = tuple(sorted(workload))
    return Isolation(
        workload=workload,
        companions=companions,
        allowed=free.allowed,
        processors=len(workload),
        nodes=sum(1 for node in _nodes(root) if node & {*workload, *companions}) or 1,
        words=f"workload on {ranges(workload)}, sink and tool on {ranges(companions)}",
    )


@contextmanager
def tool_stays_off(isolation: Isolation) -> Generator[None]:
    """Keep all threads of this process off the workload's processors; threads and children made meanwhile inherit it.

    A child that is to run elsewhere has to be told so.
    """
    if not isolation.workload:
        yield
        return
    before = os.sched_getaffinity(0)
    _move_all_threads(isolation.companions)
    try:
        yield
    finally:
        _move_all_threads(before)


def ranges(processors: Collection[int]) -> str:
    """``0-2,5`` of {0, 1, 2, 5}, as Linux writes it."""
    parts: list[list[int]] = []
    for number in sorted(processors):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def parse_ranges(text: str) -> set[int]:
    """{0, 1, 2, 5} of ``0-2,5``."""
    result: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        low, _, high = part.partition("-")
        result.update(range(int(low), int(high or low) + 1))
    return result


def _because(free: Isolation, reason: str) -> Isolation:
    return Isolation(allowed=free.allowed, processors=free.processors, words=f"nothing is pinned: {reason}")


def _one_node(allowed: Collection[int], root: Path) -> set[int]:
    """Processors of the NUMA node that has most of them, where that alone can be shared out; else all."""
    largest = max((node & set(allowed) for node in _nodes(root)), key=len, default=set[int]())
    if len(largest) >= FEW_CORES and len(_physical_cores(largest, root)) > 1:
        return largest
    return set(allowed)


def _nodes(root: Path) -> list[set[int]]:
    files = sorted((root / "sys/devices/system/node").glob("node[0-9]*/cpulist"))
    return [parse_ranges(_text(file)) for file in files]


def _physical_cores(processors: Collection[int], root: Path) -> list[tuple[int, ...]]:
    """The processors by the physical core whose threads they are; each is a core of its own where that is not seen."""
    cores = defaultdict[int, list[int]](list)
    for number in sorted(processors):
        siblings = parse_ranges(_text(_folder(number, root) / "topology/thread_siblings_list"))
        cores[min(siblings | {number})].append(number)
    return [tuple(core) for core in cores.values()]


def _capacity(number: int, root: Path) -> int:
    """How fast a processor is among its like, of chips with small and large ones."""
    text = _text(_folder(number, root) / "cpu_capacity")
    return int(text) if text.isdigit() else _FULL_CAPACITY


def _folder(number: int, root: Path) -> Path:
    return root / f"sys/devices/system/cpu/cpu{number}"


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _move_all_threads(processors: Collection[int]) -> None:
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread has ended, or the processors were taken away: it stays where it may run
            os.sched_setaffinity(int(task.name), processors)
