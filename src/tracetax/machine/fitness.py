"""Whether the machine is large, quiet and even enough to measure on, and what to do where it is not."""

from typing import Literal

from msgspec import Struct

from tracetax.machine.disturbance import DISTURBED_ABOVE
from tracetax.machine.facts import Machine
from tracetax.machine.isolation import FEW_CORES
from tracetax.machine.observed import WANTED_BUFFER_BYTES, Observed

GIB = 1 << 30
LEAST_DISK_BYTES = 5 * GIB
NOTICEABLE_STEAL = 0.01
DEAR_CLOCK_NS = 100.0
"""A clock that costs more is not read out of shared memory: each reading enters the kernel."""
LEAST_BUFFER_BYTES = 4 << 20
"""What servers that take datagrams from agents ask for themselves."""
NOT_VISIBLE = "not visible"

State = Literal["ok", "warn", "missing", "unseen"]
"""``unseen``: the machine does not show it, so that nothing is said about it."""
Judged = tuple[State, str] | tuple[State, str, str]


class Row(Struct, frozen=True):
    """One line of the doctor: what was looked at, what was found, and what that means."""

    group: Literal["toolchain", "machine"]
    name: str
    state: State
    value: str
    advice: str = ""
    """What to do about it; empty where nothing is to be done."""


def fitness_rows(machine: Machine, observed: Observed, needed_bytes: int | None) -> list[Row]:
    """Every row about the machine. ``needed_bytes`` is the memory of the default experiment's trials, if known."""
    judged: dict[str, Judged] = {
        "cores": _cores(machine),
        "isolation": _isolation(machine),
        "SMT": _smt(machine),
        "NUMA": _numa(machine),
        "limits": _limits(machine, observed),
        "load": _load(observed),
        "steal": _steal(machine, observed),
        "other run": _other_run(observed),
        "governor": _governor(machine),
        "turbo": _turbo(machine),
        "clock": _clock(machine, observed),
        "huge pages": _huge_pages(machine),
        "memory": _memory(observed, needed_bytes),
        "swap": _swap(machine, observed),
        "disk": _disk(machine),
        "datagrams": _datagrams(observed),
        "rights": _rights(observed),
    }
    return [
        Row("machine", name, words[0], words[1], words[2] if len(words) == 3 else "") for name, words in judged.items()
    ]


def _cores(machine: Machine) -> Judged:
    allowed = len(machine.isolation.allowed)
    of = f" (of {allowed} in sight)" if allowed > machine.cores else ""
    value = f"{machine.cores}{of} of {machine.cpu}"
    if machine.cores >= FEW_CORES:
        return "ok", value
    return (
        "warn",
        value,
        f"With fewer than {FEW_CORES}, the agent's threads and the sink compete with the calls: take the results as a "
        "demonstration.",
    )


def _isolation(machine: Machine) -> Judged:
    words = machine.isolation.words
    if machine.isolation.workload or machine.cores < FEW_CORES:
        return "ok", words
    return "warn", words, f"Allow {FEW_CORES} processors of at least two physical cores, for example by taskset."


def _smt(machine: Machine) -> Judged:
    if machine.smt is None:
        return "unseen", NOT_VISIBLE
    if not machine.smt:
        return "ok", "off, or one thread per core"
    if machine.isolation.workload:
        return "ok", "on; the sink is kept off the workload's cores, their second threads included"
    return (
        "warn",
        "on",
        "Two threads of a core slow each other. While measuring, as root: "
        "echo off > /sys/devices/system/cpu/smt/control",
    )


def _numa(machine: Machine) -> Judged:
    if machine.numa_nodes == 1:
        return "ok", "one node"
    value = f"{machine.numa_nodes} nodes"
    if machine.isolation.workload and machine.isolation.nodes == 1:
        return "ok", f"{value}; a trial stays on one"
    return "warn", value, "Memory of another node is slower. Stay on one: numactl -N 0 -m 0 ./tracetax run"


def _limits(machine: Machine, observed: Observed) -> Judged:
    if observed.cgroup is None:
        return "unseen", NOT_VISIBLE
    cpus, memory = machine.limits.cpus, machine.limits.memory_bytes
    parts = [f"{cpus:g} cores' time"] if cpus is not None else []
    parts += [f"{memory / GIB:.1f} GiB of memory"] if memory is not None else []
    value = f"{' and '.join(parts) or 'none'} (cgroup {observed.cgroup})"
    if cpus is None:
        return "ok", value
    if observed.throttled_ns:
        value += f", stopped for {observed.throttled_ns / 1e9:.1f} s in all"
    return (
        "warn",
        value,
        "A quota stops processes in the middle of a call. Ask for whole processors instead: --cpuset-cpus, not --cpus.",
    )


def _load(observed: Observed) -> Judged:
    load = observed.load
    if not load.seen:
        return "unseen", NOT_VISIBLE
    value = f"{load.other:.2f} cores busy with other things in {load.seconds:.0f} s"
    if load.other <= DISTURBED_ABOVE:
        return "ok", value
    return "warn", value, "End what else runs (top shows it): trials so disturbed are repeated."


def _steal(machine: Machine, observed: Observed) -> Judged:
    load = observed.load
    if not load.seen:
        return "unseen", NOT_VISIBLE
    value = f"{load.steal:.2f} cores taken by other virtual machines in {load.seconds:.0f} s"
    if load.steal > NOTICEABLE_STEAL:
        return "warn", value, "Measure at another time or on a host of your own: the A/A band will be wide."
    return ("ok", value) if machine.virtualised else ("ok", "none: no virtual machine is visible")


def _other_run(observed: Observed) -> Judged:
    if observed.other_run is None:
        return "ok", "none"
    return "warn", f"process {observed.other_run} measures", "Wait for it to end: a second run is refused meanwhile."


def _governor(machine: Machine) -> Judged:
    if machine.governor is None:
        return "unseen", NOT_VISIBLE + (": the host decides the frequency" if machine.virtualised else "")
    if machine.governor == "performance":
        return "ok", machine.governor
    return "warn", machine.governor, "While measuring, as root: cpupower frequency-set --governor performance"


def _turbo(machine: Machine) -> Judged:
    if machine.turbo is None:
        return "unseen", NOT_VISIBLE + (": the host decides the frequency" if machine.virtualised else "")
    if not machine.turbo:
        return "ok", "off"
    switch = machine.turbo_switch or "the firmware's settings"
    way = f"echo {1 if switch.endswith('no_turbo') else 0} > {switch}" if switch.startswith("/") else switch
    return "warn", "on", f"The frequency depends on heat and on other cores' work. While measuring, as root: {way}"


def _clock(machine: Machine, observed: Observed) -> Judged:
    source = machine.clock_source or f"source {NOT_VISIBLE}"
    value = f"{source}, {observed.clock_read_ns:.0f} ns to read (measured, less Python's own call)"
    if observed.clock_read_ns <= DEAR_CLOCK_NS:
        return "ok", value
    return (
        "warn",
        value,
        "Each reading enters the kernel: calls look slower, agents that read it too. "
        "/sys/devices/system/clocksource/clocksource0/available_clocksource shows others; tsc is cheap.",
    )


def _huge_pages(machine: Machine) -> Judged:
    setting = machine.transparent_huge_pages
    if setting is None:
        return "unseen", NOT_VISIBLE
    if setting != "always":
        return "ok", f"{setting}: the JVM gets none unless it asks"
    return (
        "warn",
        setting,
        "The kernel may rearrange memory during a trial. While measuring, as root: "
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )


def _memory(observed: Observed, needed_bytes: int | None) -> Judged:
    if not observed.memory_available_bytes:
        return "unseen", NOT_VISIBLE
    value = f"{observed.memory_available_bytes / GIB:.1f} GiB free"
    if needed_bytes is None:
        return "ok", value
    value += f", the default experiment needs {needed_bytes / GIB:.1f}"
    if observed.memory_available_bytes >= needed_bytes:
        return "ok", value
    return "warn", value, "End what else takes memory: a run whose heap does not fit is refused before it begins."


def _swap(machine: Machine, observed: Observed) -> Judged:
    if observed.load.swapped_bytes:
        return (
            "warn",
            f"in use: {observed.load.swapped_bytes / 2**20:.1f} MiB moved in {observed.load.seconds:.0f} s",
            "What is swapped back makes single calls slow. End what takes the memory, or as root: swapoff -a",
        )
    if not machine.swap_bytes:
        return "ok", "none"
    return "ok", f"{observed.swap_used_bytes / GIB:.1f} of {machine.swap_bytes / GIB:.1f} GiB used, nothing moves"


def _disk(machine: Machine) -> Judged:
    value = f"{machine.disk_free_bytes / GIB:.1f} GiB free where runs are written"
    if machine.disk_free_bytes >= LEAST_DISK_BYTES:
        return "ok", value
    return "warn", value, f"Free some: a run may need {LEAST_DISK_BYTES / GIB:.0f} GiB."


def _datagrams(observed: Observed) -> Judged:
    buffer = observed.receive_buffer_bytes
    if buffer is None:
        return "unseen", NOT_VISIBLE
    value = f"a socket may hold {buffer / 2**20:.1f} MiB"
    if buffer >= LEAST_BUFFER_BYTES:
        return "ok", value
    return (
        "warn",
        value,
        "From agents that send datagrams, the kernel loses some sooner (verdict kernel-loss). As root: "
        f"sysctl -w net.core.rmem_max={WANTED_BUFFER_BYTES}",
    )


def _rights(observed: Observed) -> Judged:
    if observed.root:
        return "ok", "root: the commands above can be typed as they stand"
    return "ok", "not root: enough to measure; what is said above to be done as root makes it more even"
