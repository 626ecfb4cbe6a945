"""Records that an agent writes into a folder instead of sending them.

Nobody receives them while the trial runs: that something is written shows in the size of the files, and the sink
counts what lies on disk after the process has ended.
"""

import errno
import os
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from tracetax.companions.sink import Sink
from tracetax.model import Configuration
from tracetax.run.drain import Drained

POLL_SECONDS = 0.02
LEAST_FREE_BYTES = 64 << 20
"""Below it the disk counts as full: an agent that cannot write any more says nothing of it, or hangs."""


class Written(Struct, frozen=True):
    """What lay in the folder at one moment: bytes by file."""

    files: dict[str, int]

    @property
    def bytes(self) -> int:
        """Of all files together."""
        return sum(self.files.values())

    def carried(self, final: "Written", *, received: int, kept: int) -> int:
        """How many of the ``received`` records, which are the last of all ``kept`` ones, were on disk at this moment.

        Estimated from the bytes that came later: the records of a log are about equally long. What was deleted in
        between is no matter, since it is not among the kept ones.
        """
        later = sum(max(0, size - self.files.get(name, 0)) for name, size in final.files.items())
        share = later / final.bytes if final.bytes else 0.0
        return max(0, received - round(share * kept))


class RecordsFolder:
    """The folder that ``{records.dir}`` stands for."""

    def __init__(self, path: Path) -> None:
        """``path`` must exist."""
        self.path = path

    def look(self) -> Written:
        """The files that are there now. Raises OSError where their disk is full."""
        self.check_disk()
        return Written(files=dict(_sizes(self.path)))

    def check_disk(self) -> None:
        """Raise OSError where there is no space left for more records."""
        disk = os.statvfs(self.path)
        if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def settle(
        self, *, since: Written, since_ns: int, quiet: float, limit: float, watch: Callable[[str], None]
    ) -> Drained:
        """Wait until nothing has been written for ``quiet`` seconds, or for ``limit`` seconds.

        ``since`` is what was there at ``since_ns``. The moment is that of the last change, to within a poll.
        """
        began_ns = time.monotonic_ns()
        seen, at_ns, silent_since = since, since_ns, began_ns
        while True:
            now = self.look()
            now_ns = time.monotonic_ns()
            if now != seen:
                seen, at_ns, silent_since = now, now_ns, now_ns
            elif now_ns - silent_since > quiet * 1e9:
                return Drained(at_ns=at_ns, within_limit=True)
            if now_ns - began_ns > limit * 1e9:
                return Drained(at_ns=at_ns, within_limit=False)
            watch(f"{now.bytes / 1e6:,.0f} MB of records written, waiting for the last ones")
            time.sleep(POLL_SECONDS)

    def count(self, sink: Sink, config: Configuration, *, before: int, expected: int, phase: str) -> None:
        """Let the sink count the files; ``phase`` begins behind the ``before`` records of the warm-up.

        Where the agent deletes its oldest files, it begins with the last ``expected`` records: the warm-up's go first.
        """
        edge, records = ("last", expected) if config.deletes_oldest else ("after", before)
        sink.read(config.protocol or "", self.path, phase=phase, edge=edge, records=records)


class Growth:
    """Waits for records in a folder, as ``Arrivals`` does at the sink.

    Nobody counts them, so bursts follow each other at once and only the last wait is one: an agent whose queue loses
    records at that pace loses some of the warm-up's.
    """

    given_up = True
    """Nothing is awaited before the last burst."""

    def __init__(self, folder: RecordsFolder, quiet: float, limit: float, watch: Callable[[str], None]) -> None:
        """``quiet``: seconds of silence after which nothing more is expected; ``limit``: the longest wait."""
        self._folder = folder
        self._quiet = quiet
        self._limit = limit
        self._watch = watch

    @property
    def seen(self) -> bool:
        """Whether anything has been written."""
        return self._folder.look().bytes > 0

    def wait(self, target: int, *, last: bool = False) -> None:
        """Wait until nothing is written any more, if this is the ``last`` wait."""
        del target
        if last:
            written, now_ns = self._folder.look(), time.monotonic_ns()
            self._folder.settle(since=written, since_ns=now_ns, quiet=self._quiet, limit=self._limit, watch=self._watch)


@contextmanager
def records_folder(scratch: Path) -> Generator[RecordsFolder]:
    """An empty folder under ``scratch`` for the files of one trial, removed with all of them at the end."""
    path = scratch / "records"
    path.mkdir()
    try:
        yield RecordsFolder(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _sizes(folder: Path) -> Generator[tuple[str, int]]:
    """Path and size of every file in the folder and below; one that is deleted meanwhile is left out."""
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield from _sizes(Path(entry.path))
                else:
                    yield entry.path, entry.stat(follow_symlinks=False).st_size
            except FileNotFoundError:
                continue
