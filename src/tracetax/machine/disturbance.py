"""What else the machine did during a trial: steal, and CPU that is neither the trial's nor the tool's.

Only these two mark a trial as disturbed. What else is read here (throttling by a quota, swapping, interrupts) is told
beside the result: repeating trials for it would censor expensive agents, since they cause more of it.
"""

import contextlib
import os
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.machine.isolation import Isolation
from tracetax.machine.limits import read_throttling
from tracetax.machine.processes import ProcessTree

ROOT = Path("/")
LOOK_SECONDS = 1.0
DISTURBED_ABOVE = 0.15
"""Cores: more steal plus foreign CPU than this over a trial marks it as disturbed."""

_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of the kernel's include/linux/sched.h."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class MachineCpu(Struct, frozen=True):
    """What the kernel has counted since the machine's start, CPU time in ns over the cores looked at."""

    busy_ns: int
    steal_ns: int
    at_ns: int
    interrupt_ns: int = 0
    throttled_ns: int = 0
    """Time for which this process's control groups were stopped because their quota was used up."""
    swapped_bytes: int = 0
    """Bytes that were read back from swap or written to it."""
    kernel_ns: dict[int, int] = {}
    """CPU of each of the kernel's own threads, wherever it ran."""
    kernel_here: frozenset[int] = frozenset()
    """Kernel threads that ran on these cores last, so that what they use is a part of ``busy_ns``."""
    seen: bool = True
    """Whether the kernel shows the account: some sandboxes hide it or fill it with noughts."""


def machine_cpu(cores: Collection[int] = (), root: Path = ROOT) -> MachineCpu:
    """Read the account of ``cores``; of the whole machine where none is named or visible.

    In a container the file shows the host, so that only the cores that a trial may run on are to be counted. Guest
    time is already inside user time.
    """
    try:
        lines = (root / "proc/stat").read_text().splitlines()
    except OSError:
        lines = ["cpu  0 0 0 0 0 0 0 0"]
    wanted = {f"cpu{number}" for number in cores}
    own_lines = [line for line in lines if line.split(" ", 1)[0] in wanted]
    rows = [[int(value) for value in line.split()[1:9]] for line in (own_lines if wanted else []) or lines[:1]]
    columns = [sum(column) for column in zip(*rows, strict=True)]
    user, nice, system, _idle, _iowait, irq, softirq, steal = columns
    # interrupts belong to no process: loopback traffic of the trial itself would count as somebody else's work
    busy = user + nice + system
    kernel_ns, kernel_here = _kernel_threads(cores, root)
    return MachineCpu(
        busy_ns=busy * _TICK_NS,
        steal_ns=steal * _TICK_NS,
        at_ns=time.monotonic_ns(),
        interrupt_ns=(irq + softirq) * _TICK_NS,
        throttled_ns=read_throttling(root) or 0,
        swapped_bytes=_swapped_pages(root) * _PAGE_BYTES,
        kernel_ns=kernel_ns,
        kernel_here=kernel_here,
        seen=any(columns),
    )


def process_cpu_ns(pid: int) -> int:
    """CPU of a process with all its threads and the children it has waited for; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    fields = text[text.rindex(")") + 2 :].split()
    return sum(int(field) for field in fields[11:15]) * _TICK_NS


def programs_cpu_ns(programs: Iterable[int | ProcessTree]) -> int:
    """CPU of several programs since their start: what ``between`` is to know as a trial's own.

    A number is that of a program's only process, and counts as ``process_cpu_ns`` does. Of a tree that follows, new
    processes are searched for first: one that is not known counts as somebody else's.
    """
    return sum(_program_cpu_ns(program) for program in programs)


def _program_cpu_ns(program: int | ProcessTree) -> int:
    if isinstance(program, int):
        return process_cpu_ns(program)
    if not program.follow:
        return process_cpu_ns(program.root)
    with contextlib.suppress(OSError):
        program.look(search=True)
    return program.cpu_ns


def cpu_pressure() -> float:
    """The kernel's 10 s average of time in which some task waited for a CPU, 0..1; 0 where it keeps none."""
    try:
        first = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except (OSError, IndexError):
        return 0.0
    return float(first.split("avg10=")[1].split()[0]) / 100


class Load(Struct, frozen=True):
    """What happened in a window: averages in cores unless named."""

    steal: float
    other: float
    seconds: float
    interrupts: float = 0.0
    kernel: float = 0.0
    """Cores that the kernel's threads used, which write a trial's own files back to the disk, among others."""
    throttled_ns: int = 0
    swapped_bytes: int = 0
    seen: bool = True

    @property
    def disturbed(self) -> bool:
        """Whether the window is to be repeated. Pressure plays no part: it would censor expensive agents."""
        return self.steal + self.other > DISTURBED_ABOVE


def between(start: MachineCpu, end: MachineCpu, own_cpu_ns: int, share: float = 1.0) -> Load:
    """The machine's load in a window, less ``own_cpu_ns``: CPU of the trial's processes and of the tool in it.

    The kernel's threads are not others: an agent that writes files keeps them busy, and would be repeated for that.
    One that came from another core brings a life's work with it: only what it used in the window counts, and all of
    that where it ran last. ``share`` is the part of the looked-at cores that the trial may use; others' work meets it
    in that proportion.
    """
    elapsed = max(1, end.at_ns - start.at_ns)
    kernel = sum(max(0, end.kernel_ns[number] - start.kernel_ns.get(number, 0)) for number in end.kernel_here)
    other = max(0, end.busy_ns - start.busy_ns - own_cpu_ns - kernel)
    return Load(
        steal=share * max(0, end.steal_ns - start.steal_ns) / elapsed,
        other=share * other / elapsed,
        seconds=elapsed / 1e9,
        kernel=kernel / elapsed,
        interrupts=(end.interrupt_ns - start.interrupt_ns) / elapsed,
        throttled_ns=end.throttled_ns - start.throttled_ns,
        swapped_bytes=end.swapped_bytes - start.swapped_bytes,
        seen=start.seen and end.seen,
    )


def combined_load(first: Load, second: Load) -> Load:
    """Two windows of one trial: averages of the one in which others took more, and sums of what adds up."""
    worse = max(first, second, key=lambda load: load.steal + load.other)
    return replace(
        worse,
        throttled_ns=first.throttled_ns + second.throttled_ns,
        swapped_bytes=first.swapped_bytes + second.swapped_bytes,
        seen=first.seen and second.seen,
    )


def busy_cores(isolation: Isolation, seconds: float = LOOK_SECONDS) -> float:
    """Cores that others use or that are stolen now; 0 where it is no more than a trial bears."""
    start, own = machine_cpu(isolation.watched), time.process_time_ns()
    time.sleep(seconds)
    own = time.process_time_ns() - own
    load = between(start, machine_cpu(isolation.watched), own, isolation.share)
    return load.steal + load.other if load.disturbed else 0.0


def busy_words(cores: float) -> str:
    """How busy the machine is, and what that means for a run."""
    singular = f"{cores:.1f}" == "1.0"
    return f"{cores:.1f} core{' is' if singular else 's are'} busy with others; disturbed trials will be repeated."


def _kernel_threads(cores: Collection[int], root: Path) -> tuple[dict[int, int], frozenset[int]]:
    """CPU of the kernel's threads, and which of them ran on ``cores`` last; all where no core is named."""
    used: dict[int, int] = {}
    here: set[int] = set()
    for file in (root / "proc").glob("[0-9]*/stat"):
        try:
            text = file.read_text(errors="replace")
        except OSError:  # it has ended
            continue
        fields = text[text.rindex(")") + 2 :].split()
        if int(fields[6]) & _KERNEL_THREAD:
            number = int(file.parent.name)
            used[number] = (int(fields[11]) + int(fields[12])) * _TICK_NS
            if not cores or int(fields[36]) in cores:
                here.add(number)
    return used, frozenset(here)


def _swapped_pages(root: Path) -> int:
    try:
        lines = (root / "proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("pswpin ", "pswpout ")))
