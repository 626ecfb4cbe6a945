"""Fetches an artifact from its address; proxies are those of the environment, as every client honours them."""

import hashlib
import http.client
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from tracetax import __version__
from tracetax.artifacts.cache import Say, discard, put, refuse_unpinned, sha256_of, silent, staging
from tracetax.errors import ExitCode, UserError
from tracetax.model import Artifact
from tracetax.printable import printable

ANSWER_SECONDS = 60.0
"""How long a server may say nothing."""
SECONDS = 1800.0
MOST_BYTES = 2 << 30
"""The largest file that is taken: some fifty times the largest agent known."""
CHUNK = 1 << 20
LASTING = range(400, 500)
"""Answers that a second try would get again."""
MOST_LETTERS = 200
"""Of a file's name; file systems take 255 bytes."""
_SAFE_NAME = re.compile(r"[\w.+-]*\w[\w.+-]*")


class DownloadFailed(Exception):
    """One try failed; ``again``: another one may not."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


def download(artifact: Artifact, cache: Path, say: Say = silent) -> Path:
    """The artifact's file, ``<cache>/artifacts/<sha256>/<file name>``; its checksum is tested at each call.

    A damaged file in the cache, and what did not arrive whole, is fetched again. Raises UserError where that fails or
    the address holds another file than the one pinned.
    """
    path = cache / "artifacts" / artifact.sha256 / file_name(artifact.url)
    if path.exists():
        if sha256_of(path) == artifact.sha256:
            return path
        say(f"{path.name} in the cache is damaged and is fetched again")
        discard(path, cache)
    say(f"fetching {path.name}")
    with staging(cache) as stage:
        put(_insisted(artifact, stage / path.name, say), path)
    return path


def file_name(url: str) -> str:
    """The last part of an address's path; ``download`` where that is no name for a file."""
    name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
    return name if _SAFE_NAME.fullmatch(name) and len(name) <= MOST_LETTERS else "download"


def _insisted(artifact: Artifact, target: Path, say: Say) -> Path:
    """Try again once where that may help. Raises UserError."""
    try:
        try:
            return _fetched(artifact, target)
        except DownloadFailed as failure:
            if not failure.again:
                raise
            say(f"{target.name}: {failure}; trying once more")
            return _fetched(artifact, target)
    except DownloadFailed as failure:
        raise UserError(_explained(artifact, failure), ExitCode.ENVIRONMENT) from failure


def _fetched(artifact: Artifact, target: Path) -> Path:
    """Write what the address holds to ``target``. Raises DownloadFailed."""
    request = urllib.request.Request(artifact.url, headers={"User-Agent": f"tracetax/{__version__}"})
    opener = urllib.request.build_opener()
    deadline = time.monotonic() + SECONDS
    digest = hashlib.sha256()
    received = 0
    try:
        with opener.open(request, timeout=ANSWER_SECONDS) as answer, target.open("wb") as file:
            announced = answer.headers.get("Content-Length", "")
            if announced.isdigit() and int(announced) > MOST_BYTES:
                raise DownloadFailed(f"{_too_large()}: it has {int(announced):,}", again=False)
            while chunk := answer.read1(CHUNK):
                if time.monotonic() > deadline:
                    raise DownloadFailed(f"not all of it came in {SECONDS / 60:.0f} minutes", again=False)
                digest.update(chunk)
                received += len(chunk)
                if received > MOST_BYTES:
                    raise DownloadFailed(f"{_too_large()}, and more came", again=False)
                file.write(chunk)
    except urllib.error.HTTPError as error:
        text = f"the server answered {error.code} {printable(str(error.reason))}".rstrip()
        raise DownloadFailed(text, again=error.code not in LASTING) from error
    except urllib.error.URLError as error:
        raise DownloadFailed(f"it could not be reached: {printable(str(error.reason))}") from error
    except (TimeoutError, ConnectionError, ssl.SSLError) as error:
        raise DownloadFailed(f"the connection broke off after {received:,} bytes: {error}") from error
    except http.client.HTTPException as error:
        raise DownloadFailed(f"what came is no whole answer of a web server: {error!r}") from error
    if announced.isdigit() and received < int(announced):
        raise DownloadFailed(f"the connection ended after {received:,} of {int(announced):,} bytes")
    refuse_unpinned(artifact, target)
    if digest.hexdigest() != artifact.sha256:
        raise DownloadFailed(
            f"it does not have the checksum that its agent's file pins ({received:,} bytes came)\n"
            f"  pinned:   {artifact.sha256}\n  received: {digest.hexdigest()}"
        )
    return target


def _too_large() -> str:
    return f"no file of more than {MOST_BYTES:,} bytes is taken"


def _explained(artifact: Artifact, failure: DownloadFailed) -> str:
    return (
        f"{artifact.url} ([artifacts.{artifact.name}], url) could not be fetched: {failure}\n"
        "Is there a network, and are https_proxy and no_proxy right? A file of your own takes its place by: "
        f"./tracetax run --artifact AGENT.{artifact.name}=FILE\n"
        "Only if another file at that address is known to be right, change sha256."
    )
