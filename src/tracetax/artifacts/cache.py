"""The cache on disk: where it is, checksums, and putting things into it so that they are whole or not there."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from tracetax.errors import ExitCode, UserError
from tracetax.model import Artifact

Say: TypeAlias = Callable[[str], None]
"""Takes a sentence on what is being done, for the progress display."""

CONTENTS = ".tracetax-contents.sha256"
"""The list of what a folder in the cache holds. No archive that is unpacked there has a file of that name."""
BUILT = "builds"
"""The folder in the cache for what was built. Another form of the list asks for another name, so that two versions of
Tracetax that share a cache do not take each other's builds for damaged ones."""
CERTIFICATES = "certifi/cacert.pem"
"""What a machine's own tools may add to wherever it is installed, such as the certificate of a company's proxy. Nothing
that is measured depends on it."""
ABANDONED_SECONDS = 24 * 3600.0
APPEAR_TRIES = 3


def silent(sentence: str) -> None:
    """Say nothing."""


def cache_dir(environment: Mapping[str, str]) -> Path:
    """``$TRACETAX_CACHE``, or ``tracetax`` in ``$XDG_CACHE_HOME``, or else in ``~/.cache``."""
    if own := environment.get("TRACETAX_CACHE"):
        return Path(own).expanduser().absolute()
    if common := environment.get("XDG_CACHE_HOME"):
        return Path(common).expanduser().absolute() / "tracetax"
    return Path("~/.cache/tracetax").expanduser()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(root: Path, files: Iterable[Path], *more: str) -> str:
    """A key that changes whenever a file's name or content does, or anything in ``more``."""
    digest = hashlib.sha256()
    for text in more:
        digest.update(f"{len(text)} {text}\n".encode())
    for path in sorted(files):
        digest.update(f"{sha256_of(path)} {path.relative_to(root).as_posix()}\n".encode())
    return digest.hexdigest()[:32]


@contextlib.contextmanager
def staging(cache: Path) -> Generator[Path, None, None]:
    """A folder inside the cache that only this process knows, removed at the end with all that is still in it.

    Raises UserError where the cache cannot be written.
    """
    try:
        (cache / "staging").mkdir(parents=True, exist_ok=True)
        _sweep(cache / "staging")
        folder = Path(tempfile.mkdtemp(dir=cache / "staging"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"The cache {cache} cannot be written: {error.strerror or error}. "
            "Make room or give the folder free, or set TRACETAX_CACHE to another one.",
            ExitCode.ENVIRONMENT,
        ) from error


def built(target: Path, cache: Path, build: Callable[[Path], None], say: Say) -> Path:
    """The folder ``target``, made by ``build`` (which is given an empty folder) unless it is there and intact.

    It appears in one step with everything in it; of two processes that build at once, one wins and both are right.
    """
    if target.exists():
        if _intact(target):
            return target
        say(f"{target.name} in the cache is damaged and is built again")
        discard(target, cache)
    with staging(cache) as stage:
        fresh = stage / "built"
        fresh.mkdir()
        build(fresh)
        lines = [f"{sha256_of(path)} {path.relative_to(fresh).as_posix()}\n" for path in _files(fresh)]
        (fresh / CONTENTS).write_text("".join(lines), encoding="utf-8")
        for path in fresh.rglob("*"):
            _write_back(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _appear(fresh, target)
    return target


def _appear(fresh: Path, target: Path) -> None:
    """Rename a folder that was built to its place, unless another process has put its own there meanwhile.

    The other's appeared as a whole, after this one had found none; it is not read again, for it may be in use already.
    A third process may take the other's away again, as damaged: then the place is free once more.
    """
    for attempt in range(APPEAR_TRIES):
        try:
            fresh.rename(target)
        except OSError:
            if (target / CONTENTS).is_file():
                return
            if attempt == APPEAR_TRIES - 1:
                raise
        else:
            return


class Unpinned(UserError):
    """An artifact has no checksum yet; ``sha256`` is that of the file which came."""

    def __init__(self, artifact: Artifact, sha256: str) -> None:
        super().__init__(
            f"{artifact.maven or artifact.url} is not pinned yet: its sha256 is all zeros, and nothing unpinned is "
            f"measured.\nWhat came has the SHA-256\n  {sha256}\n"
            "Compare it with what the project publishes, and write it into the agent's file.\n"
            "All that an agent lacks at once: ./tracetax check-agent AGENT --pin"
        )
        self.sha256 = sha256


def refuse_unpinned(artifact: Artifact, file: Path) -> None:
    """Raise Unpinned where an artifact has no checksum yet."""
    if artifact.sha256 and not artifact.sha256.strip("0"):
        raise Unpinned(artifact, sha256_of(file))


def put(file: Path, target: Path) -> None:
    """Move a file to ``target`` in one step, written through to the disk before."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _write_back(file)
    file.replace(target)


def discard(path: Path, cache: Path) -> None:
    """Take a file or folder out of the cache in one step; another process may have done so already."""
    with staging(cache) as stage, contextlib.suppress(FileNotFoundError):
        path.rename(stage / path.name)


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed left behind long ago."""
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _intact(folder: Path) -> bool:
    """Whether every file is there as it was built, and none that was not; what cannot even be read is damaged too.

    Certificates may have been added.
    """
    try:
        lines = (folder / CONTENTS).read_text(encoding="utf-8").splitlines()
        built = {folder / name: checksum for checksum, _, name in (line.partition(" ") for line in lines)}
        found = [path for path in _files(folder) if path != folder / CONTENTS]
        compared = (path for path in found if not path.match(CERTIFICATES))
        return built.keys() == set(found) and all(sha256_of(path) == built[path] for path in compared)
    except (OSError, ValueError):
        return False


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _write_back(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
