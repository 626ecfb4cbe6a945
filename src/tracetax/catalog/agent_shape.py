"""What may stand in ``agents/<name>/agent.toml``; docs/agent-file.md explains every key."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tracetax.catalog import units
from tracetax.model import Delivery, Layer, Profile

Text: TypeAlias = Annotated[str, Meta(min_length=1)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Duration: TypeAlias = Annotated[int, Meta(extra={"read": units.duration})]
Size: TypeAlias = Annotated[int, Meta(extra={"read": units.size})]
Name: TypeAlias = Annotated[
    str,
    Meta(
        pattern="[a-z0-9]+(-[a-z0-9]+)*",
        extra={"means": "a name of lower-case letters and digits, with hyphens between"},
    ),
]
ArtifactName: TypeAlias = Annotated[
    str, Meta(pattern="[a-z0-9_]+", extra={"means": "a name of lower-case letters, digits and underscores"})
]
VariableName: TypeAlias = Annotated[
    str, Meta(pattern="[A-Za-z_][A-Za-z0-9_]*", extra={"means": "a name for an environment variable"})
]
Coordinate: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"[^:\s]+:[^:\s]+:[^:\s]+(:[^:\s]+){0,2}",
        extra={"means": "a Maven coordinate group:artifact:version[:packaging[:classifier]]"},
    ),
]
Checksum: TypeAlias = Annotated[
    str, Meta(pattern="[0-9a-f]{64}", extra={"means": "a SHA-256: 64 hexadecimal digits in lower case"})
]


class JavaShape(Struct, frozen=True):
    """``java = { min = 8, tested = [17] }``."""

    min: Positive
    tested: tuple[Positive, ...]


class ArtifactShape(Struct, frozen=True):
    """``[artifacts.<name>]``."""

    maven: Coordinate
    sha256: Checksum


class MemoryShape(Struct, frozen=True):
    """``memory = { base = "512 MiB", per_record = "800 B" }``."""

    base: Size
    per_record: Size


class SetupShape(Struct, frozen=True, kw_only=True):
    """``[common]``, and what a configuration shares with it. None is not said here."""

    layers: tuple[Layer, ...] | None = None
    delivery: Delivery | None = None
    protocol: Text | None = None
    records_per_invocation: Positive | None = None
    record_name: Text | None = None
    queue: Positive | None = None
    held_back: Count | None = None
    flush_interval: Duration | None = None
    drop_log: Text | None = None
    deletes_oldest: bool | None = None
    jvm: tuple[Text, ...] = ()
    environment: dict[VariableName, str] = {}
    memory: MemoryShape | None = None


class ConfigurationShape(SetupShape, frozen=True, kw_only=True):
    """``[configurations.<name>]``."""

    title: Text
    extends: str | None = None
    profile: Profile | None = None
    published: dict[Name, Text] = {}


class AgentShape(Struct, frozen=True, kw_only=True):
    """The whole file."""

    name: Text
    homepage: Annotated[str, Meta(pattern="https?://.+", extra={"means": "the address of a page"})]
    licence: Text
    language: Literal["java"]
    java: JavaShape
    instrumentation: Text
    artifacts: dict[ArtifactName, ArtifactShape] = {}
    common: SetupShape = SetupShape()
    configurations: dict[Name, ConfigurationShape]
