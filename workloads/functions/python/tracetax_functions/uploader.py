"""uploader: fetches a file from the web, and puts it into object storage."""

from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tracetax_functions.steps import step
from tracetax_functions.storage import ADDRESS, write

NEEDS = ("path",)


def handle(event: dict[str, Any]) -> dict[str, Any]:
    """Fetch what lies at a ``path`` of the store's address, as from any server, and upload it."""
    path = event["path"]
    with step("download", path=path), urlopen(ADDRESS + path) as answer:
        data = answer.read()
    with step("upload", bytes=len(data)):
        key = write(data, Path(path).suffix)
    return {"key": key, "bytes": len(data), "digest": sha256(data).hexdigest()}
