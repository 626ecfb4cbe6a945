"""A store beside a workload: a server of its own, made and started in a folder of its own, and removed after."""

import contextlib
import ctypes
import os
import pwd
import secrets
import shutil
import signal
import stat
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from tracetax.catalog.placeholders import fill
from tracetax.companions.loopback import free_port, listens_elsewhere, ports_of
from tracetax.companions.sink import SinkLost
from tracetax.companions.store_files import make_files
from tracetax.printable import printable
from tracetax.process import Apart, Process, clean_environment
from tracetax.store import Store

MAKE_SECONDS = 120.0
POLL_SECONDS = 0.005
LAST_LINES = 8
SEGMENTS = Path("/proc/sysvipc/shm")
IPC_RMID = 0
NOBODY = 65534
"""Who a process of another user namespace is in it, where the machine knows no user by the name that a file says."""


class StoreLost(SinkLost):
    """A store did not start, ended, or stopped answering; the message says how, and where its log is."""

    code = "store-failed"


class SuppliedStore(Struct, frozen=True):
    """A store, and the folder that its programs lie in."""

    store: Store
    server: Path


class StoreServer:
    """A fresh store that listens on loopback alone. Use as a context manager.

    It may serve several workloads, and several may run side by side.
    """

    def __init__(
        self, supplied: SuppliedStore, *, folder: Path, log: Path, cores: Collection[int] = (), seed: int = 1
    ) -> None:
        """Make it in ``folder``, which is new and goes with it, start it, and wait until it takes connections.

        ``seed`` says which of equally good files it finds, where it keeps its data in files. Raises StoreLost where it
        does not come up.
        """
        self.log = log
        self.store = supplied.store
        self.folder = folder
        self._cores = cores
        try:
            folder.mkdir(mode=0o700, parents=True)
        except OSError as error:
            why = f"its folder {folder} cannot be made: {error.strerror or error}"
            raise StoreLost(f"the store {self.store.title} cannot start: {why}") from error
        self.process: Process | None = None
        try:
            self._apart, self._before = self._identity(supplied.server)
            values = self._values(supplied.server)
            self.url = fill(self.store.url, values)
            if self.store.make:
                self._make([fill(word, values) for word in self.store.make])
            self._lay(values, seed)
            self.process = self._started([fill(word, values) for word in self.store.start])
            self._await_ready(Path(fill(self.store.ready.file, values)), int(values["store.port"]))
        except BaseException:
            self._end()
            raise

    def check(self) -> None:
        """Raise StoreLost where the store has ended."""
        if self.process is None or self.process.poll():
            raise self._lost("is gone")

    def stop(self) -> None:
        """End it in its own way, and remove its folder. Raises StoreLost where it had ended before."""
        try:
            self.check()
        finally:
            self._end()

    def _identity(self, server: Path) -> tuple[Apart, tuple[str, ...]]:
        """As whom it runs, and the words before its own that make it so.

        Root's place is taken by the user whom its file names. Where that one may not enter a folder, and for a user
        whom the machine does not know, a user namespace does it: there the same user has another name.
        """
        dies_by = signal.Signals[f"SIG{self.store.end.with_tracetax}"]
        with contextlib.suppress(KeyError):
            if os.geteuid() != 0 or not self.store.user:
                pwd.getpwuid(os.geteuid())
                return Apart(dies_by=dies_by), ()
            user = pwd.getpwnam(self.store.user)
            if enters(self.folder.parent) and enters(server):
                os.chown(self.folder, user.pw_uid, user.pw_gid)
                return Apart(user.pw_uid, user.pw_gid, dies_by), ()
        namespace = shutil.which("unshare")
        if namespace is None:
            raise self._lost(f"cannot start: unshare, of util-linux, is missing. {self._way_out}")
        number = _number_of(self.store.user)
        return Apart(dies_by=dies_by), (namespace, "-U", f"--map-user={number}", f"--map-group={number}", "--")

    @property
    def _way_out(self) -> str:
        """What to do where there are no user namespaces."""
        needs = "It needs a user namespace, since"
        if os.geteuid() != 0:
            return f"{needs} this machine knows no user {os.geteuid()}: run as one that it knows"
        what = f"{self.store.user} may not enter {self.folder.parent} or its programs"
        return f"{needs} {what}: keep runs, and the cache (TRACETAX_CACHE), where every user may enter"

    def _values(self, server: Path) -> Mapping[str, str]:
        password = secrets.token_hex(16)
        file = self.folder / "password"
        file.touch(mode=0o600)
        file.write_text(password)
        if self._apart.user is not None:
            os.chown(file, self._apart.user, self._apart.group or 0)
        return {
            "server": str(server),
            "store.dir": str(self.folder),
            "store.port": str(free_port()),
            "store.password": password,
            "store.password_file": str(file),
        }

    def _make(self, command: Sequence[str]) -> None:
        with self._started(command) as making:
            making.close_input()
            ending = making.wait(MAKE_SECONDS)
        if ending is None or ending.status:
            how = ending.description if ending else f"was ended after {MAKE_SECONDS:.0f} s"
            what = f"could not be made: {Path(command[0]).name} {how}"
            raise self._lost(f"{what}. {self._way_out}" if self._before else what)

    def _lay(self, values: Mapping[str, str], seed: int) -> None:
        """Make the folders and files that it keeps its data in."""
        for files in self.store.files.values():
            place = Path(fill(files.folder, values))
            try:
                make_files(place, files, seed)
                if self._apart.user is not None:
                    for made in (place, *place.iterdir()):
                        os.chown(made, self._apart.user, self._apart.group or 0)
            except OSError as error:
                why = f"its data cannot be made in {place}: {error.strerror or error}"
                raise self._lost(f"cannot start: {why}") from error

    def _started(self, command: Sequence[str]) -> Process:
        return Process(
            [*self._before, *command],
            environment=clean_environment(os.environ, {"TMPDIR": str(self.folder)}),
            stdout=self.log,
            stderr=self.log,
            directory=self.folder,
            cores=self._cores,
            apart=self._apart,
        )

    def _await_ready(self, file: Path, port: int) -> None:
        assert self.process is not None
        ready = self.store.ready
        limit = ready.within_ns / 1e9
        deadline = time.monotonic() + limit
        while not (_line(file, ready.line) == ready.text if ready.file else port in ports_of(self.process.pid)):
            if self.process.poll():
                raise self._lost("did not start")
            if time.monotonic() > deadline:
                raise self._lost(f"was not ready within {limit:.0f} s")
            time.sleep(POLL_SECONDS)
        if elsewhere := listens_elsewhere(self.process.pid):
            raise self._lost(f"listens on more than the loopback address ({', '.join(elsewhere)})")

    def _lost(self, what: str) -> StoreLost:
        if self.process:
            ending = self.process.wait(0.2)
            what += f" and {ending.description if ending else 'still runs'}"
        return StoreLost(f"the store {self.store.title} {what}; its messages: {self.log}{_tail(self.log)}")

    def _end(self) -> None:
        """End it, first in its own way, and remove its folder; Ctrl-C leaves out no more than the first."""
        try:
            if self.process and not self.process.poll():
                os.kill(self.process.pid, signal.Signals[f"SIG{self.store.end.signal}"])
                self.process.wait(self.store.end.within_ns / 1e9)
        finally:
            if self.process:
                self.process.__exit__(None, None, None)
                free_shared_memory(self.process.pid)
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


def free_shared_memory(pid: int) -> None:
    """Remove the segments that a process has made, and nobody uses now: they outlive one that is killed."""
    with contextlib.suppress(OSError):
        for line in SEGMENTS.read_text(encoding="ascii").splitlines()[1:]:
            _key, segment, _mode, _size, creator, _last, attached, *_ = line.split()
            if int(creator) == pid and attached == "0":
                ctypes.CDLL(None).shmctl(int(segment), IPC_RMID, None)


def enters(place: Path) -> bool:
    """Whether any user may enter a folder and all those above it."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (place, *place.absolute().parents))


def _number_of(user: str) -> int:
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(user).pw_uid
    return NOBODY


def _line(file: Path, number: int) -> str:
    """A line of a file, without blanks around it; empty where it is not there yet."""
    with contextlib.suppress(OSError, IndexError):
        return file.read_text(errors="replace").splitlines()[number - 1].strip()
    return ""


def _tail(log: Path) -> str:
    """The last lines of a log, below a message."""
    with contextlib.suppress(OSError), log.open(errors="replace") as file:
        return "".join(f"\n  {printable(line.rstrip())}" for line in deque(file, LAST_LINES))
    return ""
