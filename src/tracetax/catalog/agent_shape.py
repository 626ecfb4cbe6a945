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
        pattern="(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*",
        extra={"means": "a name of at most 64 lower-case letters and digits, with hyphens between"},
    ),
]
ArtifactName: TypeAlias = Annotated[
    str,
    Meta(
        pattern="[a-z0-9_]{1,64}",
        extra={"means": "a name of at most 64 lower-case letters, digits and underscores"},
    ),
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
Address: TypeAlias = Annotated[
    str, Meta(pattern=r"https?://[^\s/]+/\S*", extra={"means": "the address of a file: https://…"})
]
Inside: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"(?!/)(?!.*(^|/)\.\.(/|$))[^\\{}]+",
        extra={"means": 'a path inside the folder: without a leading /, "..", backslashes or placeholders'},
    ),
]
JavaRelease: TypeAlias = Annotated[int, Meta(ge=8, le=99)]
ClassName: TypeAlias = Annotated[
    str, Meta(pattern=r"[\w$]+(\.[\w$]+)*", extra={"means": "the name of a Java class with its package"})
]


class JavaShape(Struct, frozen=True):
    """``java = { min = 8, tested = [17] }``."""

    min: Positive
    tested: tuple[Positive, ...]


class ArtifactShape(Struct, frozen=True, kw_only=True):
    """``[artifacts.<name>]``: one of ``maven``, ``url`` and ``given``, with what belongs to it."""

    maven: Coordinate | None = None
    url: Address | None = None
    given: Text | None = None
    sha256: Checksum | None = None
    version: Text | None = None


class CompilationShape(Struct, frozen=True, kw_only=True):
    """``compile = { sources = "…", class_path = […], release = 8, jar = "own.jar" }``."""

    sources: Text
    class_path: tuple[Text, ...] = ()
    release: JavaRelease = 8
    jar: Inside | None = None


class ProgramShape(Struct, frozen=True, kw_only=True):
    """``run = { main = "…", class_path = […], jvm = […], arguments = […] }``."""

    main: ClassName
    class_path: tuple[Text, ...]
    jvm: tuple[Text, ...] = ()
    arguments: tuple[str, ...] = ()


class GoShape(Struct, frozen=True, kw_only=True):
    """``go = { sources = "…", program = "server" }``."""

    sources: Text
    program: Inside


class PrepareShape(Struct, frozen=True, kw_only=True):
    """``[[prepare]]``."""

    name: Name
    unzip: tuple[Text, ...] = ()
    strip: Count | None = None
    copy: dict[Inside, Text] = {}
    compile: CompilationShape | None = None
    go: GoShape | None = None
    run: ProgramShape | None = None


class MemoryShape(Struct, frozen=True):
    """``memory = { base = "512 MiB", per_record = "800 B" }``."""

    base: Size
    per_record: Size


class ScrapeShape(Struct, frozen=True, kw_only=True):
    """``scrape = { path = "/metrics", metric = "calls_total", interval = "15 s" }``."""

    path: Annotated[str, Meta(pattern=r"/\S*", extra={"means": "a path: it begins with a slash and has no blanks"})]
    metric: Annotated[str, Meta(pattern=r"[a-zA-Z_:][\w:.]*", extra={"means": "the name of a metric"})] | None = None
    interval: Duration = 15 * 10**9


class SamplingShape(Struct, frozen=True, kw_only=True):
    """``sampling = { one_in = 20, by = "count" }``."""

    one_in: Positive
    by: Literal["count", "chance"]


class SetupShape(Struct, frozen=True, kw_only=True):
    """``[common]``, and what a configuration shares with it. None is not said here."""

    layers: tuple[Layer, ...] | None = None
    delivery: Delivery | None = None
    protocol: Text | None = None
    records_per_invocation: Positive | None = None
    record_name: Text | None = None
    queue: Positive | None = None
    queue_trees: Positive | None = None
    held_back: Count | None = None
    flush_interval: Duration | None = None
    pause: Duration | None = None
    drop_log: Text | None = None
    deletes_oldest: bool | None = None
    most_output: Size | None = None
    jvm: tuple[Text, ...] = ()
    environment: dict[VariableName, str] = {}
    memory: MemoryShape | None = None
    class_path: tuple[Text, ...] | None = None
    tree_limit: Positive | None = None
    scrape: ScrapeShape | None = None
    sampling: SamplingShape | None = None


class ConfigurationShape(SetupShape, frozen=True, kw_only=True):
    """``[configurations.<name>]``."""

    title: Text
    extends: str | None = None
    profile: Profile | None = None
    published: dict[Name, Text] = {}


class TechnologyShape(SetupShape, frozen=True, kw_only=True):
    """``[technologies.<name>]``."""

    title: Text
    published_as: Text | None = None


class AgentShape(Struct, frozen=True, kw_only=True):
    """The whole file."""

    name: Text
    homepage: Annotated[str, Meta(pattern="https?://.+", extra={"means": "the address of a page"})]
    licence: Text
    language: Literal["java"]
    java: JavaShape
    instrumentation: Text
    environment_prefixes: tuple[VariableName, ...] = ()
    artifacts: dict[ArtifactName, ArtifactShape] = {}
    prepare: tuple[PrepareShape, ...] = ()
    common: SetupShape = SetupShape()
    technology: Name | None = None
    technologies: dict[Name, TechnologyShape] = {}
    configurations: dict[Name, ConfigurationShape]
