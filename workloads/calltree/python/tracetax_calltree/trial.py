"""One trial, command by command: warm-up, measured calls, drained; and what it leaves in its folder."""

import gc
import json
import os
import platform
import sys
from array import array
from pathlib import Path
from typing import Any

from tracetax_calltree import Monitored, clock
from tracetax_calltree.callers import Callers
from tracetax_calltree.control import StatusLog, Stop
from tracetax_calltree.loops import Loop
from tracetax_calltree.options import Options
from tracetax_calltree.snapshot import snapshot
from tracetax_calltree.warmth import Warmth

FRAMES_PER_LEVEL = 20
"""Of the interpreter's, the agents' own included."""
MOST_FRAMES = 500_000
"""Some 100 MB; deeper recursion is an error, not the end of the machine's memory."""


class Trial:
    """Warm-up, measured calls, drained."""

    def __init__(self, options: Options, status: StatusLog, stop: Stop, begin: dict[str, int]) -> None:
        """Start the callers; everything that the measured calls need is then in place."""
        frames = min(FRAMES_PER_LEVEL * options.depth, MOST_FRAMES)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), frames + 1_000))
        self._options = options
        self._status = status
        self._stop = stop
        self._warmth = Warmth()
        self._callers = Callers(options, Loop(Monitored(), options, stop), self._warmth.add)
        self._snapshots = {"main": begin}
        self._calls = self._bursts = 0
        self._measured = False
        status.event("ready")

    def warm_up(self, calls: int) -> None:
        """Make a burst of warm-up calls. The very first call is made by itself and told.

        Until then an agent has set itself up and changed what it traces.
        """
        left = calls
        if not self._calls:
            self._callers.warm_up(1)
            self._status.event("first-monitored", "", self._callers.all[0].last_ns)
            left -= 1
        if left:
            self._callers.warm_up(left)
        if self._stop.requested:
            return
        self._calls += calls
        self._bursts += 1
        level, how = self._warmth.level, self._warmth.how
        self._status.event("warmed", f"calls={self._calls} driver={level} method={level} how={how}")

    def measure(self) -> None:
        """Make the measured calls."""
        if self._measured:
            raise RuntimeError("measure: the measured calls are already made")
        first = snapshot()
        self._status.event("first-call", "", first["monotonic_ns"])
        self._callers.measure()
        if self._stop.requested:
            return
        last = snapshot()
        self._status.event("last-call", "", last["monotonic_ns"])
        self._snapshots |= {"first_call": first, "last_call": last}
        self._measured = True

    def drained(self) -> None:
        """Take the last snapshots and write everything."""
        if not self._measured:
            raise RuntimeError("drained: nothing has been measured")
        drained = snapshot()
        self._status.event("drained", "", drained["monotonic_ns"])
        self._snapshots["drained"] = drained
        gc.collect()
        self._snapshots["collected"] = snapshot()
        self._write()
        self._status.event("written")

    def _write(self) -> None:
        self._options.out.mkdir(parents=True, exist_ok=True)
        files: dict[str, list[str]] = {"samples": [], "start": [], "late": []}
        for caller in self._callers.all:
            kept = {"samples": caller.samples.durations}
            if self._options.paced:
                kept |= {"start": caller.samples.starts, "late": caller.samples.lateness}
            for kind, values in kept.items():
                files[kind].append(f"{kind}-{caller.thread}.i64")
                _write_values(self._options.out / files[kind][-1], values)
        level = self._warmth.level
        trial: dict[str, Any] = {
            "format": 1,
            "workload": "calltree/python",
            "files": files,
            "threads": self._options.threads,
            "calls": self._options.calls,
            "invocations": self._options.calls * self._options.depth,
            "warm_up": {
                "calls": self._calls,
                "bursts": self._bursts,
                "driver_level": level,
                "method_level": level,
                "how": self._warmth.how,
            },
            "clock": clock.measure(),
            "snapshots": self._snapshots,
            "caller": [caller.counters() for caller in self._callers.all],
            "versions": {
                "python.version": platform.python_version(),
                "python.implementation": platform.python_implementation(),
                "python.build": " ".join(platform.python_build()),
            },
            "vm_flags": " ".join(sys.orig_argv[1 : -len(sys.argv[1:]) or None]),
        }
        _write_whole(self._options.out / "trial.json", json.dumps(trial) + "\n")


def _write_values(path: Path, values: "array[int]") -> None:
    """Write values as little-endian 64-bit integers."""
    if sys.byteorder == "big":
        values = array("q", values)
        values.byteswap()
    with path.open("wb") as file:
        values.tofile(file)


def _write_whole(path: Path, text: str) -> None:
    """Write a text so that it is there whole or not at all, whatever happens."""
    unfinished = path.with_name(path.name + ".tmp")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
