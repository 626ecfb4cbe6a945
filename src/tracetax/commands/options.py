"""Options that several commands share, and the name by which a field of a request is typed."""

from pathlib import Path
from typing import Annotated, TypeAlias, get_type_hints

from cyclopts import Parameter

NOT_AN_OPTION = Parameter(parse=False)
"""Marks a field of a request that is typed without ``--`` before it, and that the command's function fills in."""
Flag: TypeAlias = Annotated[bool, Parameter(negative="")]
BesideReference: TypeAlias = Annotated[bool, Parameter(name="--floor", negative="")]
AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", negative="")]
Artifacts: TypeAlias = Annotated[tuple[str, ...], Parameter(name="--artifact", negative="", show_default=False)]
Backends: TypeAlias = Annotated[tuple[str, ...], Parameter(name="--backend", negative="", show_default=False)]
OneFilePerArtifact: TypeAlias = Annotated[
    Artifacts,
    Parameter(
        help="AGENT.ARTIFACT=FILE: a file of yours in place of an artifact. May be given once for each artifact."
    ),
]
AgentsDirs: TypeAlias = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--agents-dir",
        negative="",
        show_default=False,
        help="A folder with agents of your own, each a folder with an agent.toml (docs/add-an-agent.md), or one such "
        "folder. May be given more than once.",
    ),
]


def typed_as(request: type, field: str) -> str:
    """How a field of a request is typed: ``--artifact`` for ``artifacts``, ``EXPERIMENT`` for one that is no option."""
    marks: tuple[object, ...] = getattr(get_type_hints(request, include_extras=True)[field], "__metadata__", ())
    if NOT_AN_OPTION in marks:
        return field.upper()
    names = [name for mark in marks if isinstance(mark, Parameter) for name in mark.name or ()]
    return names[0] if names else f"--{field.replace('_', '-')}"
