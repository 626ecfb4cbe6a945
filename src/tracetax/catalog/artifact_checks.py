"""What must hold in ``[artifacts.<name>]``: one source, with what belongs to it and nothing else."""

from tracetax.catalog.agent_shape import ArtifactShape
from tracetax.catalog.problems import Report, join

SOURCES = {
    "maven": 'maven = "group:artifact:version"',
    "url": 'url = "https://…"',
    "given": 'given = "what file it is"',
}
NEEDED = {
    "maven": {"sha256": "of the file that was really fetched"},
    "url": {"sha256": "of the file that was really fetched", "version": "which stands in every row"},
    "given": {},
}
UNWANTED = {
    "maven": {"version": "the coordinate says it"},
    "url": {},
    "given": {"sha256": "the file that is given is known by its own"},
}


def check_artifact(path: str, artifact: ArtifactShape, report: Report) -> None:
    """Report a missing or second source, and what is missing or too much beside it."""
    if report.concerns(path):
        return
    found = [source for source in SOURCES if getattr(artifact, source) is not None]
    if not found:
        report.add(path, f"has no source: {', '.join(SOURCES.values())}")
    for source in found[1:]:
        report.add(join(path, source), f"is a second source beside {found[0]}: an artifact has one")
    if len(found) != 1:
        return
    for key, what in NEEDED[found[0]].items():
        if getattr(artifact, key) is None:
            report.add(join(path, key), f"is missing: {what}")
    for key, why in UNWANTED[found[0]].items():
        if getattr(artifact, key) is not None:
            report.add(join(path, key), f"must not stand beside {found[0]}: {why}")
