"""thumbnailer: makes a small picture of a large one."""

from hashlib import sha256
from io import BytesIO
from typing import Any

from PIL import Image

from tracetax_functions.steps import step
from tracetax_functions.storage import read, write

NEEDS = ("object", "width", "height")


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Fit a picture into ``width`` and ``height``, and keep it as JPEG."""
    with step("download", object=event["object"]):
        data = read(event["object"])
    with step("resize", bytes=len(data)):
        picture = Image.open(BytesIO(data))
        picture.thumbnail((event["width"], event["height"]))
        file = BytesIO()
        picture.save(file, "JPEG", quality=80)
        small = file.getvalue()
    with step("upload", bytes=len(small)):
        key = write(small, ".jpg")
    width, height = picture.size
    return {"key": key, "width": width, "height": height, "digest": sha256(small).hexdigest()}
