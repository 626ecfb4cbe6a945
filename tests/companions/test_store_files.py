"""Files that a store finds: the same for the same seed, and what they are said to be. With the real versitygw."""

import os
import struct
import urllib.error
import urllib.request
import zlib
from pathlib import Path

import psutil
import pytest

from tests.companions import stores
from tracetax.companions.store import StoreLost, StoreServer
from tracetax.companions.store_files import made, make_files
from tracetax.store import Content, Files


@pytest.mark.parametrize(
    "content", [Content(bytes=100), Content(picture=(90, 50)), Content(film=(32, 16, 5))], ids=["bytes", "png", "y4m"]
)
def test_the_same_seed_makes_the_same_and_another_another(content: Content) -> None:
    assert made(content, "1") == made(content, "1")
    assert made(content, "1") != made(content, "2")
    assert len(made(content, "1")) >= 100


def test_a_picture_is_a_png_with_all_its_pixels() -> None:
    data = made(Content(picture=(90, 50)), "1")
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = dict[bytes, bytes](), 8
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        name, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length]) == (zlib.crc32(name + body),)
        chunks[name] = body
        place += 12 + length
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (90, 50)
    rows = zlib.decompress(chunks[b"IDAT"])
    assert len(rows) == 50 * (1 + 3 * 90)
    assert rows[:271] == rows[271:542] != rows[-271:], "squares of 40 pixels"


def test_a_film_has_as_many_whole_frames_as_asked_and_they_differ() -> None:
    head, *frames = made(Content(film=(32, 16, 5)), "1").split(b"FRAME\n")
    assert head.startswith(b"YUV4MPEG2 W32 H16 F25:1")
    assert [len(frame) for frame in frames] == [32 * 16 * 3 // 2] * 5


def test_a_folder_has_its_attributes_and_files(tmp_path: Path) -> None:
    files = Files("", {"user.who": "all"}, {"a/b": Content(bytes=10)})
    make_files(tmp_path / "new", files, 1)
    assert os.getxattr(tmp_path / "new", "user.who") == b"all"
    assert len((tmp_path / "new/a/b").read_bytes()) == 10


@pytest.mark.real
def test_versitygw_gives_inputs_to_anybody_and_keeps_outputs_and_leaves_nothing(tmp_path: Path) -> None:
    with stores.started(tmp_path, stores.supplied("versitygw")) as server:
        assert server.process
        process = psutil.Process(server.process.pid)
        place = server.url.rpartition("@")[2]
        for name, content in server.store.files["inputs"].content.items():
            with urllib.request.urlopen(f"http://{place}/inputs/{name}") as answer:
                assert answer.read() == made(content, f"1 {name}")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://{place}/outputs/any")
        server.check()
        server.stop()
    assert not process.is_running()
    assert not (tmp_path / "store").exists()


@pytest.mark.real
def test_a_store_that_cannot_make_its_files_says_where_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    supplied = stores.supplied("versitygw")
    monkeypatch.setattr("os.setxattr", refused)
    with pytest.raises(StoreLost, match=r"its data cannot be made in .*/buckets/inputs: Operation not supported"):
        StoreServer(supplied, folder=tmp_path / "store", log=tmp_path / "log")
    assert not (tmp_path / "store").exists()
