"""How much of the machine is left to this process, by its affinity and its control groups."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct


class MachineLimits(Struct, frozen=True):
    """The tightest limits on the way from this process's group to the root; None where there is none."""

    cpus: float | None
    memory_bytes: int | None


_NO_MEMORY_LIMIT = 1 << 60
"""Version 1 writes a number near 2⁶³ where memory is not limited."""


def read_limits(root: Path = Path("/")) -> MachineLimits:
    """Read both versions of control groups, whichever are mounted under ``root``."""
    cpus: list[float] = []
    memory: list[int] = []
    for folder in group_folders(root):
        quota, period = _words(folder / "cpu.max", 2) or (
            *(_words(folder / "cpu.cfs_quota_us", 1) or ("max",)),
            *(_words(folder / "cpu.cfs_period_us", 1) or ("100000",)),
        )
        if quota.isdigit():
            cpus.append(int(quota) / int(period))
        for name in ("memory.max", "memory.limit_in_bytes"):
            limit = _number(folder / name)
            if limit is not None and limit < _NO_MEMORY_LIMIT:
                memory.append(limit)
    return MachineLimits(cpus=min(cpus, default=None), memory_bytes=min(memory, default=None))


def read_throttling(root: Path = Path("/")) -> int | None:
    """For how long this process's groups were stopped because their quota was used up, ns; None where not counted."""
    stopped_ns: list[int] = []
    for folder in group_folders(root):
        file = folder / "cpu.stat"
        if _words(folder / "cpu.cfs_quota_us", 1) not in (None, ("-1",)):
            stopped_ns.append(_field(file, "throttled_time"))
        elif (_words(folder / "cpu.max", 2) or ("max",))[0] != "max":
            stopped_ns.append(_field(file, "throttled_usec") * 1000)
    return sum(stopped_ns) if stopped_ns else None


def cgroup_version(root: Path = Path("/")) -> str | None:
    """Which version of control groups gives this process its processors' time, v1 or v2; None where none is seen."""
    folders = list(group_folders(root))
    for version, file in (("v1", "cpu.cfs_quota_us"), ("v2", "cpu.stat")):
        if any((folder / file).exists() for folder in folders):
            return version
    return None


def usable_cores(root: Path = Path("/")) -> int:
    """Cores that this process may keep busy: those of its affinity, or fewer by its groups' quota, rounded up."""
    allowed = len(os.sched_getaffinity(0))
    quota = read_limits(root).cpus
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def memory_available(root: Path = Path("/")) -> int:
    """Bytes that this process and its children may still take: what the machine has, or less by its groups' limits.

    Files that a group has read count as its usage; those that the kernel drops first are not counted here, as they are
    not in the machine's own figure.
    """
    left = [meminfo(root, "MemAvailable")]
    for folder in group_folders(root):
        for limit_name, usage_name, droppable in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, usage = _number(folder / limit_name), _number(folder / usage_name)
            if limit is not None and usage is not None and limit < _NO_MEMORY_LIMIT:
                left.append(limit - max(0, usage - _field(folder / "memory.stat", droppable)))
    return max(0, min(left))


def meminfo(root: Path, name: str) -> int:
    """A field of /proc/meminfo in bytes; 0 where there is none."""
    return _field(root / "proc/meminfo", f"{name}:") * 1024


def group_folders(root: Path) -> Iterator[Path]:
    """The group folders of this process, each followed by its ancestors."""
    mount = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        top = mount if not controllers else mount / controllers
        folder = top / path.lstrip("/")
        while folder.is_relative_to(top):
            yield folder
            folder = folder.parent


def _number(path: Path) -> int | None:
    """The number that a file consists of; None where it is absent or says ``max``."""
    word = next(iter(_words(path, 1) or ()), "")
    return int(word) if word.isdigit() else None


def _field(path: Path, name: str) -> int:
    """A number behind its name in a file of one field per line; 0 where there is none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return next((int(words[1]) for words in map(str.split, lines) if len(words) > 1 and words[0] == name), 0)


def _words(path: Path, count: int) -> tuple[str, ...] | None:
    try:
        words = tuple(path.read_text().split())
    except OSError:
        return None
    return words if len(words) == count else None
