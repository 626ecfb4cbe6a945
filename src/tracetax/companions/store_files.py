"""Data of a store that keeps them in files: folders that are there when it starts, with content made from a seed."""

import os
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from tracetax.store import Content, Files

BLOCK = 40
"""Pixels along the edge of the squares, each of one colour, that a picture is made of."""
FRAMES_PER_SECOND = 25


def make_files(folder: Path, files: Files, seed: int) -> None:
    """Make a folder, which is new, with its attributes and files. The same seed makes the same. Raises OSError."""
    folder.mkdir(parents=True)
    for name, value in files.attributes.items():
        os.setxattr(folder, name, value.encode())
    for name, content in files.content.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(made(content, f"{seed} {name}"))


def made(content: Content, seed: str) -> bytes:
    """What a file holds."""
    chance = random.Random(seed)
    if content.picture:
        return _picture(*content.picture, chance)
    if content.film:
        return b"".join(_film(*content.film, chance))
    return chance.randbytes(content.bytes)


def _picture(width: int, height: int, chance: random.Random) -> bytes:
    """A PNG of coloured squares (https://www.w3.org/TR/png): 8 bits for each of red, green and blue."""
    rows: list[bytes] = []
    for top in range(0, height, BLOCK):
        colours = [chance.randbytes(3) * BLOCK for _ in range(0, width, BLOCK)]
        row = b"\0" + b"".join(colours)[: 3 * width]  # no filter
        rows += [row] * min(BLOCK, height - top)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _film(width: int, height: int, frames: int, chance: random.Random) -> Iterator[bytes]:
    """A YUV4MPEG2 stream: stripes of grey that move by a pixel a frame, over one colour."""
    yield f"YUV4MPEG2 W{width} H{height} F{FRAMES_PER_SECOND}:1 Ip A1:1 C420jpeg\n".encode()
    stripes = b"".join(chance.randbytes(1) * BLOCK for _ in range(0, width + frames, BLOCK))
    colours = b"".join(chance.randbytes(1) * (width * height // 4) for _ in range(2))
    for frame in range(frames):
        yield b"FRAME\n" + stripes[frame : frame + width] * height + colours
