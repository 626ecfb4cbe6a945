"""What the machine is, read without root and without changing anything. What cannot be seen is None, never guessed."""

import os
import platform
import shutil
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from tracetax.machine.isolation import Isolation, isolation_here
from tracetax.machine.limits import MachineLimits, meminfo, read_limits, usable_cores

ROOT = Path("/")
TURBO_SWITCHES = ("sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost")


class Machine(Struct, frozen=True):
    """The machine a run was measured on, as ``manifest.json`` and ``findings.json`` keep it."""

    cpu: str
    architecture: str
    cores: int
    """Logical processors that this process may keep busy, by affinity and quota."""
    smt: bool | None
    numa_nodes: int
    isolation: Isolation
    memory_bytes: int
    swap_bytes: int
    kernel: str
    os: str
    virtualised: str | None
    """Name of the hypervisor's product as far as the guest can see it; None on bare metal."""
    container: bool
    governor: str | None
    """Frequency governor of the processors that this process may use; several where they differ."""
    turbo: bool | None
    turbo_switch: str | None
    """The file that switches turbo; None where there is none."""
    clock_source: str | None
    transparent_huge_pages: str | None
    mitigations: dict[str, str]
    load: tuple[float, float, float]
    limits: MachineLimits
    disk_free_bytes: int
    python: str
    java: str | None = None
    """What the workload runs on; of a run alone, and of the doctor. None where nothing was looked for."""


def machine_facts(folder: Path, root: Path = ROOT) -> Machine:
    """Read the facts; ``folder`` names the disk that a run will fill, ``root`` is where /proc and /sys are found."""
    flags = _cpu_field(root, "flags")
    return Machine(
        cpu=_cpu_field(root, "model name") or _text(root / "proc/device-tree/model") or platform.machine(),
        architecture=platform.machine(),
        cores=usable_cores(root),
        smt=_switch(root / "sys/devices/system/cpu/smt/active"),
        numa_nodes=max(1, len(list((root / "sys/devices/system/node").glob("node[0-9]*")))),
        isolation=isolation_here(root),
        memory_bytes=meminfo(root, "MemTotal"),
        swap_bytes=meminfo(root, "SwapTotal"),
        kernel=f"{platform.system()} {platform.release()}",
        os=_operating_system(root),
        virtualised=_hypervisor(root, flags.split()),
        container=(root / ".dockerenv").exists() or (root / "run/.containerenv").exists(),
        governor=_governor(os.sched_getaffinity(0), root),
        turbo=_turbo(root),
        turbo_switch=next((f"/{name}" for name in TURBO_SWITCHES if (root / name).exists()), None),
        clock_source=_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_huge_pages=_chosen(_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        mitigations=_mitigations(root),
        load=os.getloadavg(),
        limits=read_limits(root),
        disk_free_bytes=shutil.disk_usage(folder).free,
        python=platform.python_version(),
    )


def _text(path: Path) -> str | None:
    """A one-line file of the kernel; None where it is absent or closed."""
    try:
        return path.read_text(errors="replace").strip("\0\n ") or None
    except OSError:
        return None


def _switch(path: Path) -> bool | None:
    text = _text(path)
    return None if text is None else text not in ("0", "N")


def _cpu_field(root: Path, name: str) -> str:
    for line in (_text(root / "proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _operating_system(root: Path) -> str:
    for line in (_text(root / "etc/os-release") or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip('"')
    return platform.system()


def _hypervisor(root: Path, flags: list[str]) -> str | None:
    known = _text(root / "sys/hypervisor/type")
    if known or "hypervisor" in flags:
        return known or _text(root / "sys/class/dmi/id/product_name") or "unnamed hypervisor"
    return None


def _governor(processors: Collection[int], root: Path) -> str | None:
    folder = root / "sys/devices/system/cpu"
    governors = {_text(folder / f"cpu{number}/cpufreq/scaling_governor") for number in processors}
    return ", ".join(sorted(filter(None, governors))) or None


def _turbo(root: Path) -> bool | None:
    off, on = (_switch(root / name) for name in TURBO_SWITCHES)
    return on if off is None else not off


def _chosen(text: str | None) -> str | None:
    """The word in brackets of ``always [madvise] never``."""
    return text.partition("[")[2].partition("]")[0] or None if text else None


def _mitigations(root: Path) -> dict[str, str]:
    files = sorted((root / "sys/devices/system/cpu/vulnerabilities").glob("*"))
    return {file.name: text for file in files if (text := _text(file)) and text != "Not affected"}
