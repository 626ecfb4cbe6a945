"""A control group of the test's own, whose account of CPU is the kernel's word on all processes in it."""

import os
import subprocess
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


class ControlGroup:
    """A group that processes can enter, of version 2 (``cpu.stat``) or 1 (``cpuacct.usage``)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.entrance = folder / "cgroup.procs"
        """Who writes 0 into this file enters."""

    @property
    def cpu_ns(self) -> int:
        """CPU of all that were ever in it, while they were."""
        ready_made = self._folder / "cpuacct.usage"
        if ready_made.exists():
            return int(ready_made.read_text())
        lines = dict(line.split() for line in (self._folder / "cpu.stat").read_text().splitlines())
        return int(lines["usage_usec"]) * 1_000


@contextmanager
def control_group(*versions: int) -> Generator[ControlGroup]:
    """Make one below this process's own, and remove it. Skips the test where none can be made or entered."""
    reasons: list[str] = []
    for parent in _own_groups(versions or (2, 1)):
        folder = parent / f"tracetax-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError as error:
            reasons.append(f"{folder}: {error.strerror}")
            continue
        try:
            group = ControlGroup(folder)
            if _usable(group, reasons):
                yield group
                return
        finally:
            _remove(folder)
    pytest.skip("no control group can be made: " + ("; ".join(reasons) or "none is mounted that counts CPU"))


def _own_groups(versions: Collection[int]) -> Generator[Path]:
    """The folders of this process's own groups of these versions that count CPU, version 2 first."""
    own: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for _, point, kind, _options, *_ in mounts:
        if kind == "cgroup2" and 2 in versions:
            yield Path(point + own.get("", "/"))
    for _, point, kind, options, *_ in mounts:
        if kind == "cgroup" and 1 in versions and "cpuacct" in options.split(","):
            yield Path(point + own.get("cpuacct", "/"))


def _usable(group: ControlGroup, reasons: list[str]) -> bool:
    entering = subprocess.run(["/bin/sh", "-c", f"echo 0 > {group.entrance}"], capture_output=True, check=False)
    try:
        if entering.returncode == 0 and group.cpu_ns > 0:
            return True
        reasons.append(f"{group.entrance}: {entering.stderr.decode().strip() or 'counts nothing'}")
    except (OSError, KeyError) as error:
        reasons.append(f"{group.entrance}: {error}")
    return False


def _remove(folder: Path) -> None:
    """Remove a group; the kernel lets go of the ended processes in it a moment later."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            folder.rmdir()
            return
        except OSError:
            time.sleep(0.01)
