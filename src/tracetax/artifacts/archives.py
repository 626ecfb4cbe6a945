"""Unpacks zip and tar archives so that nothing lands outside the folder, and nothing grows without bound."""

import errno
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable
from functools import partial
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct

from tracetax.artifacts.cache import CONTENTS
from tracetax.errors import UserError
from tracetax.printable import printable

MOST_BYTES = 4 << 30
MOST_ENTRIES = 200_000
CHUNK = 1 << 20
SHOWN_LETTERS = 60
_TOO_MUCH = f"unpacks to more than {MOST_BYTES / 2**30:.0f} GiB"
_UNREADABLE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, UnicodeDecodeError),  # a compression that is not known, a password, a name
)


class ArchiveError(UserError):
    """An archive that cannot be unpacked; the message says why, without its name."""


class Entry(Struct, frozen=True):
    """A file in an archive, or a folder where there is nothing to open."""

    name: str
    executable: bool = False
    open: Callable[[], IO[bytes]] | None = None


def unpack(archive: Path, folder: Path, strip: int = 0) -> None:
    """Unpack into ``folder`` what an archive holds, without the first ``strip`` parts of each path.

    What a link in a tar archive points at is written in its place. Raises ArchiveError, and OSError where the disk
    does not take it.
    """
    left = MOST_BYTES
    for count, entry in enumerate(_entries(archive), start=1):
        if count > MOST_ENTRIES:
            raise ArchiveError(f"holds more than {MOST_ENTRIES:,} files")
        parts = _parts(entry.name)[strip:]
        if not parts:
            continue
        if parts[0] == CONTENTS:
            raise ArchiveError(f'holds "{CONTENTS}", which is the name of the cache\'s own list of what it holds')
        try:
            left -= _write(entry, folder.joinpath(*parts), left)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise ArchiveError(f'holds "{printable(entry.name)}" both as a file and as a folder') from None
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            start = printable(entry.name)[:SHOWN_LETTERS]
            raise ArchiveError(
                f'holds a name that is too long for this file system, with {len(entry.name):,} letters: "{start}…"'
            ) from None


def check_archive(archive: Path) -> None:
    """Raise ArchiveError where something is no archive, is empty, or ends before its end."""
    if not sum(1 for entry in _entries(archive) if entry.open):
        raise ArchiveError("is an empty archive")


def _write(entry: Entry, target: Path, most: int) -> int:
    """Write a file or make a folder; returns the bytes that were written."""
    if entry.open is None:
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    try:
        with entry.open() as source, target.open("wb") as sink:
            while chunk := source.read(CHUNK):
                written += len(chunk)
                if written > most:
                    raise ArchiveError(_TOO_MUCH)
                sink.write(chunk)
    except _UNREADABLE as error:
        raise ArchiveError(f'is damaged at "{printable(entry.name)}": {_reason(error)}') from None
    if entry.executable:
        target.chmod(0o755)
    return written


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a path in an archive. Raises ArchiveError where it leads out of the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise ArchiveError(f'holds the path "{printable(name)}", which could lead out of the folder')
    return path.parts


def _entries(archive: Path) -> Iterable[Entry]:
    if tarfile.is_tarfile(archive):
        return _of_tar(archive)
    if zipfile.is_zipfile(archive):
        return _of_zip(archive)
    raise ArchiveError("can be read neither as zip nor as tar")


def _of_zip(archive: Path) -> Generator[Entry]:
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                mode = member.external_attr >> 16
                if member.is_dir():
                    yield Entry(member.filename)
                elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                    yield Entry(member.filename, bool(mode & stat.S_IXUSR), partial(opened.open, member))
                else:
                    raise ArchiveError(f'holds "{printable(member.filename)}", which is neither a file nor a folder')
    except _UNREADABLE as error:
        raise ArchiveError(f"cannot be read: {_reason(error)}") from None


def _of_tar(archive: Path) -> Generator[Entry]:
    try:
        with tarfile.open(archive) as opened:
            left = MOST_BYTES
            for member in opened:
                left -= member.size  # to get to the next one, all of it is inflated
                if left < 0:
                    raise ArchiveError(_TOO_MUCH)
                if member.isdir():
                    yield Entry(member.name)
                elif member.isfile() or member.issym() or member.islnk():
                    yield Entry(member.name, bool(member.mode & stat.S_IXUSR), partial(_opened, opened, member))
                else:
                    raise ArchiveError(f'holds "{printable(member.name)}", which is neither a file nor a folder')
            _to_its_end(opened)
    except _UNREADABLE as error:
        raise ArchiveError(f"cannot be read: {_reason(error)}") from None


def _to_its_end(archive: tarfile.TarFile) -> None:
    """Read what lies behind the last member, so that the checksum of what is compressed is tested."""
    left = MOST_BYTES
    while archive.fileobj and (chunk := archive.fileobj.read(CHUNK)):
        left -= len(chunk)
        if left < 0:
            raise ArchiveError(_TOO_MUCH)


def _opened(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """What a member or the file that it links to holds."""
    try:
        found = archive.extractfile(member)
    except (KeyError, RecursionError):
        found = None
    if found is None:
        link, end = printable(member.name), printable(member.linkname)
        raise ArchiveError(f'holds the link "{link}" to "{end}", which is no file in it')
    return found


def _reason(error: BaseException) -> str:
    return printable(str(error)) or type(error).__name__
