"""Drops that an agent's log admits, summed while the log grows."""

import re
from pathlib import Path

from tracetax.workloads.calltree import WorkloadFailed


class DropLog:
    """Follows the files that an agent logs to and sums the first group of ``pattern`` over all matches."""

    def __init__(self, pattern: str | None, files: tuple[Path, ...]) -> None:
        """``pattern`` None: the agent admits nothing, and the sum stays 0."""
        self._pattern = re.compile(pattern) if pattern else None
        self._read = dict.fromkeys(files, 0)
        self._sum = 0

    def total(self, *, ended: bool = False) -> int:
        """Records that the log admits to have dropped so far; where the log has ended, an unfinished line counts.

        Raises WorkloadFailed where what the pattern matches is no number.
        """
        if self._pattern is None:
            return 0
        for file, start in self._read.items():
            if not file.exists():
                continue
            with file.open("rb") as stream:
                stream.seek(start)
                data = stream.read()
            whole = data if ended else data[: data.rfind(b"\n") + 1]
            self._read[file] = start + len(whole)
            for match in self._pattern.finditer(whole.decode(errors="replace")):
                number = match.group(1).replace(",", "")
                if not number.isdigit():
                    raise WorkloadFailed(
                        "drop-log-unreadable", f"drop_log in the agent's file matches {match.group(0)!r}: no number"
                    )
                self._sum += int(number)
        return self._sum
