"""What may stand in ``backends/<name>/backend.toml``; docs/backends.md explains every key."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tracetax.catalog.agent_shape import (
    ArtifactName,
    ArtifactShape,
    ClassName,
    Duration,
    PrepareShape,
    Size,
    Text,
    VariableName,
)

Address: TypeAlias = Annotated[
    str, Meta(pattern=r"/\S*", extra={"means": "a path: it begins with a slash and has no blanks"})
]


class StartShape(Struct, frozen=True, kw_only=True):
    """``[start]``: one of ``program``, ``jar`` and ``main``."""

    program: Text | None = None
    jar: Text | None = None
    main: ClassName | None = None
    class_path: tuple[Text, ...] = ()
    jvm: tuple[Text, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: dict[VariableName, str] = {}
    memory: Size = 256 << 20


class ReadyShape(Struct, frozen=True, kw_only=True):
    """``[ready]``."""

    port: Text
    path: Address | None = None
    within: Duration = 60 * 10**9


class CountersShape(Struct, frozen=True, kw_only=True):
    """``[counters]``."""

    port: Text
    path: Address
    format: Literal["json", "prometheus"]
    received: tuple[Text, ...]
    dropped: tuple[Text, ...] = ()
    refused: tuple[Text, ...] = ()


class BackendShape(Struct, frozen=True, kw_only=True):
    """The whole file."""

    name: Text
    homepage: Annotated[str, Meta(pattern="https?://.+", extra={"means": "the address of a page"})]
    licence: Text
    version: Text | None = None
    accepts: tuple[Text, ...]
    artifacts: dict[ArtifactName, ArtifactShape] = {}
    prepare: tuple[PrepareShape, ...] = ()
    start: StartShape
    ready: ReadyShape
    counters: CountersShape
