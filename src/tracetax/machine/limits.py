"""How much of the machine the control groups of this process leave to it."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct


class Limits(Struct, frozen=True):
    """The tightest limits on the way from this process's group to the root; None where there is none."""

    cpus: float | None
    memory_bytes: int | None


_NO_MEMORY_LIMIT = 1 << 60
"""Version 1 writes a number near 2⁶³ where memory is not limited."""


def read_limits(root: Path = Path("/")) -> Limits:
    """Read both versions of control groups, whichever are mounted under ``root``."""
    cpus: list[float] = []
    memory: list[int] = []
    for folder in _groups(root):
        quota, period = _words(folder / "cpu.max", 2) or (
            *(_words(folder / "cpu.cfs_quota_us", 1) or ("max",)),
            *(_words(folder / "cpu.cfs_period_us", 1) or ("100000",)),
        )
        if quota.isdigit():
            cpus.append(int(quota) / int(period))
        for name in ("memory.max", "memory.limit_in_bytes"):
            for limit in _words(folder / name, 1) or ():
                if limit.isdigit() and int(limit) < _NO_MEMORY_LIMIT:
                    memory.append(int(limit))
    return Limits(cpus=min(cpus, default=None), memory_bytes=min(memory, default=None))


def _groups(root: Path) -> Iterator[Path]:
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


def _words(path: Path, count: int) -> tuple[str, ...] | None:
    try:
        words = tuple(path.read_text().split())
    except OSError:
        return None
    return words if len(words) == count else None
