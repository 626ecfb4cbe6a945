"""Records that an agent writes into a folder: while the trial runs only the files' sizes tell of them.

The sink counts what lies on disk after the process has ended.
"""

import errno
import os
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from tracetax.companions.receiver import PhaseReport
from tracetax.companions.sink import Sink
from tracetax.model import Configuration
from tracetax.run.context import MEASURED, TrialContext
from tracetax.run.drain import Drained

POLL_SECONDS = 0.02
LEAST_FREE_BYTES = 64 << 20
"""Below it the disk counts as full: an agent that cannot write any more says nothing of it, or hangs."""


class Written(Struct, frozen=True):
    """What lay in the folder at one moment: bytes by file."""

    files: dict[str, int]

    @property
    def bytes(self) -> int:
        """Bytes of all files together."""
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


class FolderArrivals:
    """Waits for records in a folder at the end of a warm-up.

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


class FileRecords:
    """The records of one trial, which its agent writes into files that the sink counts afterwards."""

    sent_during_calls = False

    def __init__(self, context: TrialContext, sink: Sink, folder: RecordsFolder) -> None:
        """``folder`` is empty, and stands in the agent's command line."""
        self._context = context
        self._sink = sink
        self._folder = folder
        limits = context.limits
        self.arrivals = FolderArrivals(folder, limits.warm_up_quiet, limits.drain_base, context.watch)
        self._at_last_call = self._at_drained = Written(files={})

    def connect(self) -> None:
        """Nothing is left to wait for: who writes files connects to nobody."""

    def close_warm_up(self, records: int) -> None:
        """Nothing is closed: the account ends after so many records, when the files are counted."""

    def look_at_last_call(self) -> None:
        """Note what lies on disk when the last call has returned."""
        self._at_last_call = self._look()

    def settle(self, dropped_before: int, last_call_ns: int, agent_cores: Callable[[], float]) -> Drained:
        """Wait until nothing has been written for longer than the flush interval."""
        del dropped_before, agent_cores
        limits, context = self._context.limits, self._context
        return self._folder.settle(
            since=self._at_last_call,
            since_ns=last_call_ns,
            quiet=limits.quiet + context.config.flush_interval_ns / 1e9,
            limit=limits.drain_base + context.expected * limits.drain_per_record,
            watch=context.watch,
        )

    def look_at_drained(self) -> None:
        """Note what lies on disk when nothing more is written."""
        self._at_drained = self._look()

    def ask_last(self) -> None:
        """Nothing: the files tell everything."""

    def count(self, warm_up_records: int) -> None:
        """Let the sink count the files: the warm-up's records first, then those of the measured calls."""
        self._context.watch("counting what was written")
        config, expected = self._context.config, self._context.expected
        self._folder.count(self._sink, config, before=warm_up_records, expected=expected, phase=MEASURED)

    def arrived(self, before: PhaseReport, measured: PhaseReport) -> tuple[int, int]:
        """Records of the measured calls that lay on disk at both moments, estimated from the files' sizes."""
        protocol = self._context.config.protocol
        final, received = self._folder.look(), measured.of(protocol).records
        kept = before.of(protocol).records + received
        at_last_call, at_drained = (
            seen.carried(final, received=received, kept=kept) for seen in (self._at_last_call, self._at_drained)
        )
        return at_last_call, at_drained

    def _look(self) -> Written:
        """The files, unless the sink has stopped answering: then nobody would be left to count them."""
        self._sink.counts()
        return self._folder.look()


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
