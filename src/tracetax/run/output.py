"""What the workload prints: bounded while it runs, cut to beginning and end afterwards, quoted where it failed."""

import os
import signal
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from tracetax.printable import printable
from tracetax.process import Process
from tracetax.workloads.driver import WorkloadFailed

LOOK_SECONDS = 0.1
KEPT_BYTES = 1 << 20
"""Bytes that are kept of the beginning, and as many of the end, of a log that is longer than both."""
TAIL_LINES = 12
TAIL_BYTES = 16 << 10
STREAMS = ("stderr.txt", "stdout.txt")


class Flood:
    """Ends a process that prints without an end, whatever stage its trial is in. Use as a context manager.

    It looks at the sizes of two files ten times a second, in a thread of its own: nothing that is printed passes
    through Tracetax. Leaving the block raises WorkloadFailed ``output-flood`` in the place of what the end led to.
    """

    def __init__(self, process: Process, logs: Path, most_bytes: int) -> None:
        self._process = process
        self._files = [logs / name for name in STREAMS]
        self._most_bytes = most_bytes
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="flood", daemon=True)

    @property
    def _printed(self) -> int:
        return sum(file.stat().st_size for file in self._files if file.exists())

    def _follow(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            if self._printed > self._most_bytes and self._process.ending is None:
                try:
                    os.killpg(self._process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._printed > self._most_bytes and (error is None or isinstance(error, WorkloadFailed)):
            text = (
                f"the workload printed more than {self._most_bytes >> 20} MiB and was ended. "
                "Is the agent's log at a level for debugging? Its level belongs into the agent's file. Where it "
                "prints as much by design: most_output, there"
            )
            raise WorkloadFailed("output-flood", text) from error


def cut(logs: Path) -> None:
    """Leave of each long log its beginning and its end, with a line between that says how much is missing."""
    for file in logs.glob("*.txt"):
        size = file.stat().st_size
        if size <= 2 * KEPT_BYTES:
            continue
        with file.open("r+b") as stream:
            stream.seek(size - KEPT_BYTES)
            end = stream.read()
            stream.seek(KEPT_BYTES)
            stream.write(f"\n… {size - 2 * KEPT_BYTES:,} bytes are left out here …\n".encode() + end)
            stream.truncate()


def last_lines(logs: Path, names: tuple[str, ...]) -> str:
    """The tails of what was printed, for the error message: of every file in which there is anything.

    The cause of a failure may stand on either stream: a runtime may complain on standard output of a heap
    that it cannot have, an agent on standard error.
    """
    tails = [(name, tail_of(logs / name).splitlines()) for name in names if (logs / name).is_file()]
    told = [(name, lines) for name, lines in tails if lines]
    if not told:
        return f"  its logs are empty: {logs}"
    each = max(1, TAIL_LINES // len(told))
    spare = TAIL_LINES - sum(min(each, len(lines)) for _, lines in told)
    quoted: list[str] = []
    for name, lines in told:
        shown = lines[-(each + (spare if len(lines) > each else 0)) :]
        quoted += [
            f"  last lines of {name}:",
            *(f"    {printable(line)}" for line in shown),
            f"  whole log: {logs / name}",
        ]
    return "\n".join(quoted)


def tail_of(file: Path) -> str:
    """The end of a log of any size."""
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - TAIL_BYTES))
        return stream.read().decode(errors="replace")
