"""An artifact from wherever its agent's file, or the user, says that it is."""

from pathlib import Path

from tracetax.artifacts.cache import Say, silent
from tracetax.artifacts.download import download
from tracetax.artifacts.local import keep
from tracetax.artifacts.maven import fetch
from tracetax.errors import UserError
from tracetax.model import Artifact


def obtain(artifact: Artifact, cache: Path, say: Say = silent) -> Path:
    """The artifact's file in the cache: the user's own, or fetched. Raises UserError."""
    if artifact.file:
        return keep(artifact, cache)
    if artifact.maven:
        return fetch(artifact, cache, say)
    if artifact.url:
        return download(artifact, cache, say)
    raise UserError(f"{artifact.name} has to be given: {artifact.given}")
