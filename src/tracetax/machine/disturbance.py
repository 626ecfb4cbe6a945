"""What else the machine did during a trial: steal, and CPU that is neither the trial's nor the tool's."""

import os
import time
from pathlib import Path

from msgspec import Struct

DISTURBED_ABOVE = 0.15
"""Cores: more steal plus foreign CPU than this over a trial marks it as disturbed."""

_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


class MachineCpu(Struct, frozen=True):
    """CPU time of all processes of the machine since its start, ns over all cores, and when it was read."""

    busy_ns: int
    steal_ns: int
    at_ns: int


def machine_cpu(stat: Path = Path("/proc/stat")) -> MachineCpu:
    """Read the machine's CPU account. Guest time is already inside user time."""
    with stat.open() as lines:
        fields = [int(value) for value in lines.readline().split()[1:]]
    user, nice, system, _idle, _iowait, _irq, _softirq, steal = fields[:8]
    # interrupts belong to no process: loopback traffic of the trial itself would count as somebody else's work
    busy = user + nice + system
    return MachineCpu(busy_ns=busy * _TICK_NS, steal_ns=steal * _TICK_NS, at_ns=time.monotonic_ns())


def process_cpu_ns(pid: int) -> int:
    """CPU of a process with all its threads, ended ones included; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    fields = text[text.rindex(")") + 2 :].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_NS


def cpu_pressure() -> float:
    """The kernel's 10 s average of time in which some task waited for a CPU, 0..1; 0 where it keeps none."""
    try:
        first = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except (OSError, IndexError):
        return 0.0
    return float(first.split("avg10=")[1].split()[0]) / 100


class Load(Struct, frozen=True):
    """Averages over a window, in cores."""

    steal: float
    other: float
    seconds: float

    @property
    def disturbed(self) -> bool:
        """Whether the window is to be repeated. Pressure plays no part: it would censor expensive agents."""
        return self.steal + self.other > DISTURBED_ABOVE


def between(start: MachineCpu, end: MachineCpu, own_cpu_ns: int) -> Load:
    """The machine's load in a window, less ``own_cpu_ns``: CPU of the trial's processes and of the tool in it."""
    elapsed = max(1, end.at_ns - start.at_ns)
    other = max(0, end.busy_ns - start.busy_ns - own_cpu_ns)
    return Load(steal=(end.steal_ns - start.steal_ns) / elapsed, other=other / elapsed, seconds=elapsed / 1e9)
