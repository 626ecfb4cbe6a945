"""Processes that the kernel hands to this one because what started them has ended: found, ended, and their CPU."""

import contextlib
import os
import resource
import signal
from collections.abc import Collection
from pathlib import Path


def killed_cpu_ns(pids: Collection[int]) -> int:
    """Kill them, and wait for those that have ended; returns the CPU of these."""
    used = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            used += usage_cpu_ns(os.wait4(pid, os.WNOHANG)[2])
    return used


def orphans(started: Collection[int]) -> set[int]:
    """Processes handed to this one because what started them has ended.

    They are children in another session than this process that it has not started: its other children, such as
    compilers, share its session.
    """
    own, session = os.getpid(), os.getsid(0)
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                text = (folder / "stat").read_text(errors="replace")
                _state, parent, _group, of_session = text[text.rindex(")") + 2 :].split()[:4]
                if int(parent) == own and int(of_session) != session:
                    found.add(int(folder.name))
    return found.difference(started)


def usage_cpu_ns(usage: resource.struct_rusage) -> int:
    """CPU of a process and of the children that it has waited for."""
    return round((usage.ru_utime + usage.ru_stime) * 1e9)
