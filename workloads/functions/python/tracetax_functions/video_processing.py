"""video-processing: puts a watermark on a film, and makes a GIF of its beginning, by ffmpeg."""

import subprocess
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from imageio_ffmpeg import get_ffmpeg_exe

from tracetax_functions.steps import step
from tracetax_functions.storage import read, write

NEEDS = ("object", "watermark", "seconds")
FILTER = "[0:v][1:v]overlay=main_w-overlay_w-5:5,fps=10"
FFMPEG = get_ffmpeg_exe()


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Make the GIF of so many ``seconds``."""
    with TemporaryDirectory() as place:
        film, watermark, gif = (Path(place, name) for name in ("film.y4m", "watermark.png", "film.gif"))
        with step("download", object=event["object"]):
            film.write_bytes(read(event["object"]))
            watermark.write_bytes(read(event["watermark"]))
        with step("process", seconds=event["seconds"]):
            words = ["-v", "error", "-t", str(event["seconds"]), "-i", film, "-i", watermark, "-filter_complex", FILTER]
            subprocess.run([FFMPEG, *words, "-fflags", "+bitexact", gif], check=True)
        data = gif.read_bytes()
    with step("upload", bytes=len(data)):
        key = write(data, ".gif")
    return {"key": key, "bytes": len(data), "digest": sha256(data).hexdigest()}
