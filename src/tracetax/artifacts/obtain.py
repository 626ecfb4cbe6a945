"""An artifact from wherever its agent's file, or the user, says that it is."""

from pathlib import Path

from tracetax.artifacts.cache import Say, Unpinned, silent
from tracetax.artifacts.download import download
from tracetax.artifacts.local import keep
from tracetax.artifacts.maven import fetch
from tracetax.errors import UserError
from tracetax.model import Agent, Artifact


def missing_pins(agent: Agent, cache: Path, say: Say = silent) -> dict[str, str]:
    """The SHA-256 of each artifact of an agent whose file has zeros in its place, as it came, by the artifact's name.

    Raises UserError where one cannot be fetched.
    """
    found: dict[str, str] = {}
    for artifact in agent.artifacts.values():
        if artifact.sha256 and not artifact.sha256.strip("0"):
            try:
                obtain(artifact, cache, say)
            except Unpinned as unpinned:
                found[artifact.name] = unpinned.sha256
    return found


def obtain(artifact: Artifact, cache: Path, say: Say = silent) -> Path:
    """The artifact's file in the cache: the user's own, or fetched. Raises UserError."""
    if artifact.file:
        return keep(artifact, cache)
    if artifact.maven:
        return fetch(artifact, cache, say)
    if artifact.url:
        return download(artifact, cache, say)
    raise UserError(f"{artifact.name} has to be given: {artifact.given}")
