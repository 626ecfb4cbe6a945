"""A control group of one's own: what the processes in it may use together, and whether the kernel killed one of them.

It is made below this process's own group, or below the next one above in which that can be done. Version 1 of control
groups has a group for each resource, version 2 one for all.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from tracetax.errors import ExitCode, UserError
from tracetax.machine.limits import group_folders

PERIOD_US = 100_000
REMOVAL_SECONDS = 5.0
"""How long the kernel may take to let go of processes that have ended."""
_NUMBERS = itertools.count(1)


class ControlGroup:
    """Folders of a group, one for each resource that is limited, or one for all."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._folders = folders

    @property
    def entrances(self) -> tuple[str, ...]:
        """Files by which a process enters that writes 0 into each."""
        return tuple(str(folder / "cgroup.procs") for folder in self._folders)

    @property
    def killed(self) -> int:
        """Processes that the kernel has killed because the group's memory was spent."""
        return max(
            (
                _field(folder / name, "oom_kill")
                for folder in self._folders
                for name in ("memory.events", "memory.oom_control")
            ),
            default=0,
        )


@contextmanager
def control_group(memory_bytes: int = 0, cores: float = 0.0) -> Generator[ControlGroup | None]:
    """A group with these limits, zeros for none, removed at the end of the block; None where nothing is limited.

    Raises UserError where no such group can be made.
    """
    if not memory_bytes and not cores:
        yield None
        return
    folders: list[Path] = []
    try:
        if memory_bytes:
            folders.append(_made({"memory.max": str(memory_bytes)}, {"memory.limit_in_bytes": str(memory_bytes)}))
            _without_swap(folders[0], memory_bytes)
        if cores:
            quota = max(1_000, round(cores * PERIOD_US))
            two, one = {"cpu.max": f"{quota} {PERIOD_US}"}, {"cpu.cfs_quota_us": str(quota)}
            version_2 = folders and (folders[0] / "cpu.max").exists()
            if version_2:
                _write(folders[0], two)
            else:
                folders.append(_made(two, one))
        yield ControlGroup(tuple(folders))
    finally:
        for folder in folders:
            _remove(folder)


def _made(*files: dict[str, str]) -> Path:
    """A new group in which one of these sets of files could be written. Raises UserError."""
    why = "none is mounted"
    name = f"tracetax-{os.getpid()}-{next(_NUMBERS)}"
    for parent in group_folders(Path("/")):
        folder = parent / name
        try:
            folder.mkdir()
        except OSError as error:
            why = f"{folder}: {error.strerror}"
            continue
        for wanted in files:
            if all((folder / file).exists() for file in wanted):
                try:
                    _write(folder, wanted)
                except OSError as error:
                    why = f"{folder}: {error.strerror}"
                    break
                return folder
        _remove(folder)
    raise UserError(
        f"Memory and CPU of a program cannot be limited here: no control group can be made ({why}).\n"
        "That needs the right to make one, which root has; leave memory and cpu out otherwise.",
        ExitCode.ENVIRONMENT,
    )


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def _without_swap(folder: Path, memory_bytes: int) -> None:
    """What does not fit must not go to swap instead, as far as the kernel counts swap."""
    for name, text in (("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", str(memory_bytes))):
        with contextlib.suppress(OSError):
            if (folder / name).exists():
                (folder / name).write_text(text)


def _field(path: Path, name: str) -> int:
    with contextlib.suppress(OSError):
        for key, *values in _lines(path):
            if key == name and values:
                return int(values[0])
    return 0


def _lines(path: Path) -> Iterator[list[str]]:
    return (words for line in path.read_text().splitlines() if (words := line.split()))


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + REMOVAL_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.01)
