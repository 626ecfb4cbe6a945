"""What ``./tracetax doctor`` shows: whether the tools are there and the machine is quiet enough to measure on."""

import os
import sys
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tracetax.machine import disturbance
from tracetax.machine.facts import FEW_CORES, Machine, machine_facts
from tracetax.machine.toolchain import OLDEST_JDK, Jdk, find_jdk, go_version, maven_version

Group = Literal["toolchain", "machine"]
State = Literal["ok", "warn", "missing"]

GIB = 1 << 30
LEAST_DISK_BYTES = 5 * GIB
NOTICEABLE_STEAL = 0.01
CHEAP_CLOCKS = ("tsc", "arch_sys_counter")
"""Clock sources that a process reads without entering the kernel."""


class Row(Struct, frozen=True):
    """One line of the doctor."""

    group: Group
    name: str
    state: State
    value: str
    advice: str = ""
    """What to do about it; empty where nothing is to be done."""


class Tools(Struct, frozen=True):
    """The tools of this process."""

    python: str
    environment: Path
    """``sys.prefix``: the folder of the Python environment."""
    go: str | None
    jdk: Jdk | None
    maven: str | None


def doctor_rows(root: Path, cache: Path, seconds: float = 1.0) -> list[Row]:
    """Look at tools and machine; watches for ``seconds`` what else runs. ``root`` is the clone."""
    machine = machine_facts(root)
    tools = Tools(
        python=machine.python,
        environment=Path(sys.prefix),
        go=go_version(),
        jdk=find_jdk(os.environ),
        maven=maven_version(),
    )
    return [*tool_rows(tools, root), cache_row(cache), disk_row(machine), *machine_rows(machine, watch(seconds))]


def watch(seconds: float) -> disturbance.Load:
    """What others take from this machine, over a window in which this process sleeps."""
    start, own = disturbance.machine_cpu(), time.process_time_ns()
    time.sleep(seconds)
    return disturbance.between(start, disturbance.machine_cpu(), time.process_time_ns() - own)


def tool_rows(tools: Tools, root: Path) -> list[Row]:
    """Python, its environment, Go, JDK and Maven."""
    launched = tools.environment == root / ".venv"
    return [
        Row("toolchain", "Python", "ok", tools.python),
        Row(
            "toolchain",
            "environment",
            "ok" if launched else "warn",
            str(tools.environment),
            "" if launched else "Start Tracetax by ./tracetax, which keeps an environment with locked packages.",
        ),
        Row("toolchain", "Go", "ok", tools.go)
        if tools.go
        else Row("toolchain", "Go", "missing", "not on PATH", "Start Tracetax by ./tracetax, which brings its own Go."),
        *jdk_rows(tools.jdk),
        Row("toolchain", "Maven", "ok", tools.maven)
        if tools.maven
        else Row("toolchain", "Maven", "missing", "no mvn on PATH", f"{_OFFERS} Or: apt-get install maven"),
    ]


_OFFERS = "./tracetax run offers to install it."


def jdk_rows(jdk: Jdk | None) -> list[Row]:
    """The JDK and its compiler, which builds the workload."""
    advice = f"{_OFFERS} Or: apt-get install default-jdk-headless (a JDK {OLDEST_JDK} or newer)"
    if jdk is None:
        return [Row("toolchain", name, "missing", f"no {name} on PATH", advice) for name in ("java", "javac")]
    old = jdk.release < OLDEST_JDK
    return [
        Row("toolchain", "java", "missing" if old else "ok", f"{jdk}, {jdk.home}", advice if old else ""),
        Row("toolchain", "javac", "ok", str(jdk.javac))
        if jdk.javac
        else Row("toolchain", "javac", "missing", f"{jdk.home} has none", advice),
    ]


def cache_row(cache: Path) -> Row:
    """The folder that keeps downloads and builds."""
    existing = next(path for path in (cache, *cache.absolute().parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Row("toolchain", "cache", "ok", str(cache))
    return Row("toolchain", "cache", "missing", f"{cache} cannot be written", "Name another folder: TRACETAX_CACHE=…")


def disk_row(machine: Machine) -> Row:
    """Free space where runs are written."""
    value = f"{machine.disk_free_bytes / GIB:.1f} GiB free"
    if machine.disk_free_bytes >= LEAST_DISK_BYTES:
        return Row("toolchain", "disk", "ok", value)
    return Row("toolchain", "disk", "warn", value, f"Free some: a run may need {LEAST_DISK_BYTES / GIB:.0f} GiB.")


def machine_rows(machine: Machine, load: disturbance.Load) -> list[Row]:
    """Whether the machine is large, quiet and even enough."""
    return [
        Row("machine", "cores", *_cores(machine)),
        Row("machine", "load", *_load(load)),
        Row("machine", "steal", *_steal(load)),
        Row("machine", "governor", *_governor(machine)),
        Row("machine", "clock source", *_clock(machine)),
    ]


def _cores(machine: Machine) -> tuple[State, str, str]:
    value = f"{machine.cores} of {machine.cpu}"
    if machine.cores >= FEW_CORES:
        return "ok", value, ""
    return (
        "warn",
        value,
        f"With fewer than {FEW_CORES}, agents compete with the calls: take the results as a demonstration.",
    )


def _load(load: disturbance.Load) -> tuple[State, str, str]:
    value = f"{load.other:.2f} cores busy with other things in {load.seconds:.0f} s"
    if load.other <= disturbance.DISTURBED_ABOVE:
        return "ok", value, ""
    return "warn", value, "End what else runs (top shows it): trials so disturbed are repeated."


def _steal(load: disturbance.Load) -> tuple[State, str, str]:
    value = f"{load.steal:.2f} cores taken by other virtual machines in {load.seconds:.0f} s"
    if load.steal <= NOTICEABLE_STEAL:
        return "ok", value, ""
    return "warn", value, "Measure at another time or on a host of your own: the A/A band will be wide."


def _governor(machine: Machine) -> tuple[State, str, str]:
    if machine.governor == "performance":
        return "ok", machine.governor, ""
    if machine.governor:
        return "warn", machine.governor, "While measuring, as root: cpupower frequency-set --governor performance"
    return "warn", "not visible", "Nothing to do here: the host decides the frequency, the A/A band shows what it does."


def _clock(machine: Machine) -> tuple[State, str, str]:
    source = machine.clock_source or "not visible"
    if source in CHEAP_CLOCKS:
        return "ok", source, ""
    return "warn", source, "Reading this clock may enter the kernel: calls look slower, agents that read it too."
