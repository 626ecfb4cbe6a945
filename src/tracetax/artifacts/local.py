"""Keeps a copy of a file of the user's, by content, so that a build cannot change it while a run goes on."""

import shutil
from pathlib import Path

from tracetax.artifacts.cache import discard, put, sha256_of, staging
from tracetax.errors import UserError
from tracetax.model import Artifact


def keep(artifact: Artifact, cache: Path) -> Path:
    """The copy of the artifact's own file, ``<cache>/artifacts/<sha256>/<file name>``, tested at each call.

    Raises UserError where there is no copy yet and the file is gone or holds something else than when it was given.
    """
    path = cache / "artifacts" / artifact.sha256 / artifact.file_name
    if path.exists():
        if sha256_of(path) == artifact.sha256:
            return path
        discard(path, cache)
    source = Path(artifact.file)
    if not source.is_file():
        raise UserError(f"{source} is gone, and the cache has no copy of it. Put it back, or begin a new run.")
    with staging(cache) as stage:
        copy = Path(shutil.copyfile(source, stage / artifact.file_name))
        if sha256_of(copy) != artifact.sha256:
            raise UserError(f"{source} has changed since it was given. Wait until it is built, and type it again.")
        put(copy, path)
    return path
