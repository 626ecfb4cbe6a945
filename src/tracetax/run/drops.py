"""Drops that an agent's log admits, summed while the log grows."""

import re
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tracetax.workloads.driver import WorkloadFailed, whole_number

CHUNK_BYTES = 1 << 20
"""Bytes of a log that are read and searched at once."""
LONGEST_LINE = 16 << 10
"""Bytes of a line that are searched; what is longer is no message about drops."""
MATCH_SECONDS = 2.0
"""CPU that searching one chunk may take: a pattern with nested repetitions could take years."""


class DropLog:
    """Follows the files that an agent logs to and sums the first group of ``pattern`` over all matches in lines."""

    def __init__(self, pattern: str | None, files: tuple[Path, ...]) -> None:
        """``pattern`` None: the agent admits nothing, and the sum stays 0."""
        self._pattern = re.compile(pattern) if pattern else None
        self._read = dict.fromkeys(files, 0)
        self._sum = 0

    def total(self, *, ended: bool = False) -> int:
        """Records that the log admits to have dropped so far; where the log has ended, an unfinished line counts.

        Raises WorkloadFailed where what the pattern matches is no number, or matching takes too long.
        """
        if self._pattern is None:
            return 0
        for file in self._read:
            if file.exists():
                self._follow(file, self._pattern, ended)
        return self._sum

    def _follow(self, file: Path, pattern: re.Pattern[str], ended: bool) -> None:
        with file.open("rb") as stream:
            stream.seek(self._read[file])
            while data := stream.read(CHUNK_BYTES):
                last = len(data) < CHUNK_BYTES
                whole = data if ended and last else data[: data.rfind(b"\n") + 1]
                if not whole and not last:
                    whole = data  # a line without an end: its beginning is searched, the rest is passed over
                with _at_most(MATCH_SECONDS, pattern):
                    for line in whole.split(b"\n"):
                        self._sum += _dropped(pattern, line[:LONGEST_LINE].decode(errors="replace"))
                self._read[file] += len(whole)
                stream.seek(self._read[file])
                if last:
                    return


def _dropped(pattern: re.Pattern[str], line: str) -> int:
    total = 0
    for match in pattern.finditer(line):
        number = whole_number((match.group(1) or "").replace(",", ""))
        if number is None:
            raise WorkloadFailed(
                "drop-log-unreadable", f"drop_log in the agent's file matches {match.group(0)[:200]!r}: no number"
            )
        total += number
    return total


@contextmanager
def _at_most(seconds: float, pattern: re.Pattern[str]) -> Generator[None]:
    """Raise WorkloadFailed where the block takes more CPU; Python's matching looks for signals as it goes.

    Only the main thread can be interrupted so; elsewhere nothing is bounded.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise WorkloadFailed(
            "drop-log-unreadable",
            f"drop_log in the agent's file took more than {seconds:g} s of CPU to search 1 MiB of the log, and was "
            f"given up: {pattern.pattern!r}. Repetitions inside repetitions, such as (a+)+, can take for ever",
        )

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
