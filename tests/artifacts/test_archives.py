"""Archives are unpacked whole, nothing lands outside the folder, and nothing grows without bound."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tracetax.artifacts import archives
from tracetax.artifacts.archives import ArchiveError, check_archive, unpack

FILES = {"agent-1/agent.jar": b"jar", "agent-1/conf/a.conf": b"a = 1", "agent-1/bin/start": b"#!/bin/sh"}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if "/bin/" in name else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def tarred(path: Path, files: dict[str, bytes], *links: tuple[str, str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755 if "/bin/" in name else 0o644
            archive.addfile(member, io.BytesIO(content))
        for name, target, kind in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return path


Maker = Callable[[Path, dict[str, bytes]], Path]
MAKERS: tuple[Maker, ...] = (zipped, tarred)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "inside" / "folder"
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("make", MAKERS)
def test_everything_is_there_and_programs_can_be_executed(tmp_path: Path, folder: Path, make: Maker) -> None:
    unpack(make(tmp_path / "archive", FILES), folder)
    assert contents(folder) == FILES
    assert [path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_mode & 0o100] == ["start"]


def test_leading_parts_are_dropped(tmp_path: Path, folder: Path) -> None:
    unpack(tarred(tmp_path / "a.tar.gz", {**FILES, "README": b"beside"}), folder, strip=1)
    assert set(contents(folder)) == {"agent.jar", "conf/a.conf", "bin/start"}


def test_empty_folders_are_made_too(tmp_path: Path, folder: Path) -> None:
    unpack(zipped(tmp_path / "a.zip", {"logs/": b"", **FILES}), folder)
    assert (folder / "logs").is_dir()


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/tmp/out", "..\\out", "a\\..\\..\\out"])
@pytest.mark.parametrize("make", MAKERS)
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, folder: Path, name: str, make: Maker) -> None:
    with pytest.raises(ArchiveError, match="could lead out of the folder"):
        unpack(make(tmp_path / "a", {name: b"x"}), folder, strip=1)
    assert not contents(tmp_path / "inside")


def test_what_a_link_points_at_is_written_in_its_place(tmp_path: Path, folder: Path) -> None:
    links = ("agent-1/link.jar", "agent.jar", tarfile.SYMTYPE), ("agent-1/hard", "agent-1/agent.jar", tarfile.LNKTYPE)
    unpack(tarred(tmp_path / "a.tar.gz", FILES, *links), folder)
    assert contents(folder)["agent-1/link.jar"] == contents(folder)["agent-1/hard"] == b"jar"
    assert not (folder / "agent-1/link.jar").is_symlink()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../etc/passwd", "gone", "self"])
def test_a_link_to_what_is_not_in_it_is_refused(tmp_path: Path, folder: Path, target: str) -> None:
    with pytest.raises(ArchiveError, match='holds the link "self"'):
        unpack(tarred(tmp_path / "a.tar.gz", {}, ("self", target, tarfile.SYMTYPE)), folder)


def test_a_device_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ArchiveError, match="neither a file nor a folder"):
        unpack(tarred(tmp_path / "a.tar.gz", {}, ("null", "", tarfile.CHRTYPE)), folder)


@pytest.mark.parametrize("make", MAKERS)
def test_a_small_archive_cannot_fill_the_disk(
    tmp_path: Path, folder: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    archive = make(tmp_path / "a", {f"zeros-{n}": bytes(1 << 19) for n in range(8)})
    assert archive.stat().st_size < 1 << 14
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        unpack(archive, folder)
    assert sum(map(len, contents(folder).values())) <= 1 << 20


def test_nor_can_it_hold_any_number_of_files(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_ENTRIES", 5)
    with pytest.raises(ArchiveError, match="holds more than 5 files"):
        unpack(zipped(tmp_path / "a.zip", {str(n): b"" for n in range(6)}), folder)


def test_a_name_that_is_both_file_and_folder_is_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ArchiveError, match="both as a file and as a folder"):
        unpack(tarred(tmp_path / "a.tar.gz", {"a": b"file", "a/b": b"below it"}), folder)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kept", [0.5, 0.9])
def test_half_an_archive_is_none(tmp_path: Path, folder: Path, make: Maker, kept: float) -> None:
    archive = make(tmp_path / "a", {"noise": bytes((n * n * 31 + n // 7) % 251 for n in range(100_000)), **FILES})
    archive.write_bytes(archive.read_bytes()[: int(archive.stat().st_size * kept)])
    with pytest.raises(ArchiveError):
        unpack(archive, folder)
    with pytest.raises(ArchiveError):
        check_archive(archive)


def test_a_flipped_bit_in_a_zip_is_noticed(tmp_path: Path, folder: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("a", b"content" * 100)
    damaged = bytearray(archive.read_bytes())
    damaged[100] ^= 1
    archive.write_bytes(damaged)
    with pytest.raises(ArchiveError, match='is damaged at "a"'):
        unpack(archive, folder)


def test_what_is_no_archive_or_empty_is_told_apart(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no archive")
    with pytest.raises(ArchiveError, match="can be read neither as zip nor as tar"):
        check_archive(text)
    with pytest.raises(ArchiveError, match="is an empty archive"):
        check_archive(zipped(tmp_path / "empty.zip", {}))


@pytest.mark.parametrize("make", MAKERS)
def test_a_file_by_the_name_of_the_caches_own_list_is_refused_and_one_as_archives_have_it_is_kept(
    tmp_path: Path, folder: Path, make: Maker
) -> None:
    unpack(make(tmp_path / "first", {"contents.sha256": b"its own"}), folder)
    assert contents(folder) == {"contents.sha256": b"its own"}
    with pytest.raises(ArchiveError, match="the name of the cache's own list"):
        unpack(make(tmp_path / "second", {".tracetax-contents.sha256": b"x"}), folder)


@pytest.mark.parametrize("make", MAKERS)
def test_a_name_that_no_file_system_takes_is_a_sentence(tmp_path: Path, folder: Path, make: Maker) -> None:
    with pytest.raises(ArchiveError, match=r'too long for this file system, with 300 letters: "a+…"'):
        unpack(make(tmp_path / "archive", {"a" * 300: b"x"}), folder)


@pytest.mark.parametrize("make", MAKERS)
def test_names_are_shown_without_control_characters(tmp_path: Path, folder: Path, make: Maker) -> None:
    with pytest.raises(ArchiveError) as caught:
        unpack(make(tmp_path / "archive", {"../\x1b[2Jx": b"x"}), folder)
    assert "\x1b" not in str(caught.value)


def test_a_tar_that_declares_too_much_is_refused_before_it_is_inflated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1000)
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        check_archive(tarred(tmp_path / "archive", {"a": bytes(600), "b": bytes(600)}))
