"""Fetches an artifact by Maven itself, so that the user's own mirror and proxy settings hold."""

from collections.abc import Sequence
from pathlib import Path

from tracetax.artifacts.cache import Say, discard, put, refuse_unpinned, sha256_of, silent, staging
from tracetax.artifacts.tools import ToolFailed, find_tool, run_tool
from tracetax.errors import ExitCode, UserError
from tracetax.model import Artifact

SECONDS = 900.0


def fetch(artifact: Artifact, cache: Path, say: Say = silent) -> Path:
    """The artifact's file, ``<cache>/artifacts/<sha256>/<file name>``; its checksum is tested at each call.

    A damaged file in the cache is fetched again; a damaged copy in Maven's local repository is passed over by
    fetching into a fresh one. Raises UserError where Maven fails or delivers another file than the one pinned.
    """
    path = cache / "artifacts" / artifact.sha256 / file_name(artifact.maven)
    if path.exists():
        if sha256_of(path) == artifact.sha256:
            return path
        say(f"{path.name} in the cache is damaged and is fetched again")
        discard(path, cache)
    say(f"fetching {path.name}")
    with staging(cache) as stage:
        file = _copied(artifact, stage / "copy", cache)
        refuse_unpinned(artifact, file)
        found = sha256_of(file)
        if found != artifact.sha256:
            say(f"{path.name} does not have its checksum and is fetched again, past Maven's local repository")
            file = _copied_afresh(artifact, found, stage, cache)
        put(file, path)
    return path


def file_name(coordinate: str) -> str:
    """The name by which ``dependency:copy`` stores ``group:artifact:version[:packaging[:classifier]]``."""
    _, name, version, *rest = coordinate.split(":")
    packaging = rest[0] if rest else "jar"
    classifier = f"-{rest[1]}" if len(rest) > 1 else ""
    return f"{name}-{version}{classifier}.{packaging}"


def _copied_afresh(artifact: Artifact, found: str, stage: Path, cache: Path) -> Path:
    """Fetch past the local repository, whose copy has the wrong checksum ``found``."""
    group, name, version = artifact.maven.split(":")[:3]
    local = "/".join(["~/.m2/repository", *group.split("."), name, version])
    wrong = f"{artifact.maven} does not have the checksum that its agent's file pins"
    sums = f"  pinned:   {artifact.sha256}\n  received: {found}"
    try:
        file = _copied(artifact, stage / "fresh", cache, [f"-Dmaven.repo.local={stage / 'repository'}"])
    except ToolFailed as error:
        raise UserError(
            f"{wrong}, and it could not be fetched again.\n{sums}\n"
            f"Delete Maven's copy, usually {local}, and try again with a network.\n{error}",
            ExitCode.ENVIRONMENT,
        ) from error
    again = sha256_of(file)
    if again != artifact.sha256:
        raise UserError(
            f"{wrong}, also when fetched afresh.\n  pinned:   {artifact.sha256}\n  received: {again}\n"
            "The repository or mirror serves a file that is damaged or not the one that was pinned; it is not used. "
            "Ask its operator, or try another mirror. Only if the new file is known to be right, change sha256.",
            ExitCode.ENVIRONMENT,
        )
    return file


def _copied(artifact: Artifact, folder: Path, cache: Path, options: Sequence[str] = ()) -> Path:
    maven = find_tool("mvn", f"to fetch {artifact.maven}")
    name = file_name(artifact.maven)
    run_tool(
        f"{artifact.maven} could not be fetched",
        [
            str(maven),
            "-q",
            "-B",
            *options,
            "dependency:copy",
            f"-Dartifact={artifact.maven}",
            f"-DoutputDirectory={folder}",
            "-Dmdep.useBaseVersion=true",
        ],
        log=cache / "logs" / name,
        advice="Does that version exist? Is there a network, and is the mirror or proxy in ~/.m2/settings.xml right? "
        "What Maven did not find it does not look for again at once, but does with: "
        f"mvn -U dependency:get -Dartifact={artifact.maven}",
        seconds=SECONDS,
        directory=folder.parent,
    )
    file = folder / name
    if not file.is_file():
        raise ToolFailed(f"Maven ended well, but did not deliver {name} for {artifact.maven}: is the coordinate right?")
    return file
