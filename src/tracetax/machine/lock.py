"""One measuring run at a time on a machine: a second one would disturb both."""

import contextlib
import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tracetax.errors import ExitCode, UserError

LOCK = Path("/tmp/tracetax.lock")
"""One path for every user of a machine, whatever TMPDIR says: a folder of one's own would lock nobody else out."""
LOCK_VARIABLE = "TRACETAX_LOCK"
"""The variable that names another lock: meant for tests of Tracetax, whose runs need no quiet machine."""
_ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""The file may lie in a folder where everybody writes: what somebody else put there must neither lead nor block."""


def lock_path(environment: Mapping[str, str]) -> Path:
    """The file that the machine's one run locks."""
    return Path(environment.get(LOCK_VARIABLE) or LOCK)


@contextmanager
def sole_run(path: Path | None = None) -> Generator[None]:
    """Hold the machine's lock; raises UserError with the other run's process where it is taken.

    Every user of the machine can hold it, whoever made its file. The kernel frees the lock when its holder ends,
    however that happens.
    """
    path = path or lock_path(os.environ)
    try:
        descriptor = _opened(path)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"Another run is measuring on this machine (process {_holder(descriptor)}, lock {path}).\n"
                "Two at once would disturb each other: wait for it to end, then type this again.",
                ExitCode.BUSY,
            ) from None
        except OSError as error:
            raise _unusable(path, error) from error
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def holder(path: Path | None = None) -> str | None:
    """The process of the run that holds the lock, "unknown" where it cannot be told; None where no run does."""
    path = path or lock_path(os.environ)
    try:
        descriptor = os.open(path, os.O_RDONLY | _ALWAYS)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None


def _opened(path: Path) -> int:
    """Open the file, for reading alone where it is another user's, or make it for everybody.

    One that exists is opened without O_CREAT, which ``fs.protected_regular`` forbids for files of others in /tmp.
    """
    for access in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(path, access | _ALWAYS)
        except PermissionError:
            if access == os.O_RDONLY:
                raise
        except FileNotFoundError:
            break
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _ALWAYS, 0o666)
    except FileExistsError:  # another run has made it meanwhile
        return os.open(path, os.O_RDONLY | _ALWAYS)
    os.fchmod(descriptor, 0o666)
    return descriptor


def _holder(descriptor: int) -> str:
    """The process that wrote its number into the file, if it is alive: one that may only read writes none."""
    with contextlib.suppress(OSError):
        number = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        if number.isdigit() and Path(f"/proc/{number}").exists():
            return number
    return "unknown"


def _unusable(path: Path, error: OSError) -> UserError:
    exists = os.path.lexists(path)
    way_out = (
        f"Delete it, or let everybody use it: chmod 666 {path}" if exists else f"Files must fit into {path.parent}."
    )
    return UserError(
        f"The lock {path} cannot be {'used' if exists else 'made'}: {error.strerror}.\n"
        f"It keeps two runs from disturbing each other. {way_out}",
        ExitCode.ENVIRONMENT,
    )
