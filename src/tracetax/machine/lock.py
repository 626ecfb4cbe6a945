"""One measuring run at a time on a machine: a second one would disturb both."""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tracetax.errors import ExitCode, UserError


@contextmanager
def sole_run(path: Path | None = None) -> Generator[None]:
    """Hold the machine's lock; raises UserError with the other run's process where it is taken.

    The kernel frees the lock when its holder ends, however that happens.
    """
    path = path or Path(tempfile.gettempdir()) / "tracetax.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 100).decode().strip() or "unknown"
            raise UserError(
                f"Another run is measuring on this machine (process {holder}, lock {path}).\n"
                "Two at once would disturb each other: wait for it to end, then type this again.",
                ExitCode.BUSY,
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
