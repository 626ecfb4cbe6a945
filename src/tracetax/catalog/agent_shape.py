"""What may stand in ``agents/<name>/<language>/agent.toml``, and what a configuration takes from other tables of it.

docs/agent-file.md explains every key. Artifacts and ``[[prepare]]`` may stand in a backend's file too.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct, ValidationError, convert

from tracetax.agent import CallRecords, Instrumentations, Release
from tracetax.catalog.reading import Count, Name, Positive, Report, Text, did_you_mean, join
from tracetax.catalog.units import Duration, Size
from tracetax.errors import UserError
from tracetax.ledger import Sampling
from tracetax.model import Artifact, Delivery, Layer, Profile
from tracetax.preparation import Compilation, GoBuild, NativeBuild, Packages, PrepareStep, Program

CALL_TREE = "calltree"
"""The kind of workload that an agent is set up for whose file names none: there was no other."""
Homepage: TypeAlias = Annotated[str, Meta(pattern="https?://.+", extra={"means": "the address of a page"})]
UrlPath: TypeAlias = Annotated[
    str, Meta(pattern=r"/\S*", extra={"means": "a path: it begins with a slash and has no blanks"})
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
ModulePath: TypeAlias = Annotated[
    str, Meta(pattern=r"[\w.~-]+(/[\w.~-]+)*", extra={"means": "the path of a Go module"})
]
LibraryName: TypeAlias = Annotated[
    str, Meta(pattern=r"[\w.+]+", extra={"means": 'the name of a library without its "lib": zstd of libzstd.so'})
]
PackageName: TypeAlias = Annotated[
    str, Meta(pattern=r"[a-z0-9][a-z0-9.+-]+", extra={"means": "the name of a Debian package"})
]
JavaRelease: TypeAlias = Annotated[int, Meta(ge=8, le=99)]
ClassName: TypeAlias = Annotated[
    str, Meta(pattern=r"[\w$]+(\.[\w$]+)*", extra={"means": "the name of a Java class with its package"})
]


def day(value: object) -> str:
    """Read a date of TOML, ``2013-10-16``, as text of ISO 8601."""
    if not isinstance(value, date) or isinstance(value, datetime):
        raise UserError("must be a date without quotation marks, as 2013-10-16")
    return value.isoformat()


Day: TypeAlias = Annotated[str, Meta(extra={"read": day})]


class ReleasesShape(Struct, frozen=True):
    """``runtime = { min = 8, tested = [17] }``."""

    min: Positive
    tested: tuple[Positive, ...]


class ArtifactShape(Struct, frozen=True, kw_only=True):
    """``[artifacts.<name>]``: one of ``maven``, ``url`` and ``given``, with what belongs to it."""

    maven: Coordinate | None = None
    url: Address | None = None
    given: Text | None = None
    sha256: Checksum | None = None
    version: Text | None = None
    released: Day | None = None


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
    """``go = { sources = "…", program = "server", replace = { "example.org/module" = "…" } }``."""

    sources: Text
    program: Inside
    replace: dict[ModulePath, Text] = {}


class NativeShape(Struct, frozen=True, kw_only=True):
    """``cc = { sources = "…", library = "libown.so", include = […], links = ["zstd"], packages = […] }``."""

    sources: Text
    library: Inside
    include: tuple[Text, ...] = ()
    links: tuple[LibraryName, ...] = ()
    packages: tuple[PackageName, ...] = ()


class LockShape(Struct, frozen=True, kw_only=True):
    """``pip = { lock = "…" }`` and ``npm = { lock = "…" }``."""

    lock: Text


class PrepareShape(Struct, frozen=True, kw_only=True):
    """``[[prepare]]``."""

    name: Name
    unzip: tuple[Text, ...] = ()
    strip: Count | None = None
    copy: dict[Inside, Text] = {}
    compile: CompilationShape | None = None
    go: GoShape | None = None
    cc: NativeShape | None = None
    pip: LockShape | None = None
    npm: LockShape | None = None
    run: ProgramShape | None = None


class MemoryShape(Struct, frozen=True):
    """``memory = { base = "512 MiB", per_record = "800 B" }``."""

    base: Size
    per_record: Size


class ScrapeShape(Struct, frozen=True, kw_only=True):
    """``scrape = { path = "/metrics", metric = "calls_total", interval = "15 s" }``."""

    path: UrlPath
    metric: Annotated[str, Meta(pattern=r"[a-zA-Z_:][\w:.]*", extra={"means": "the name of a metric"})] | None = None
    interval: Duration = 15 * 10**9


def records_of_call(value: object) -> CallRecords | None:
    """Read ``3``, ``{ fixed = 1, per_query = 2 }`` or ``"varies"``, which is None."""
    if value == "varies":
        return None
    said = {"fixed": value} if isinstance(value, int) else value
    try:
        records = convert(said, CallRecords)
    except ValidationError:
        records = CallRecords(-1)
    if records.fixed < 0 or records.per_query < 0 or (isinstance(said, dict) and not said.keys() <= set(FIELDS)):
        raise UserError('must be a number of records, { fixed = 1, per_query = 2 } or "varies"')
    return records


FIELDS = CallRecords.__struct_fields__
RecordsOfCall: TypeAlias = Annotated[CallRecords | None, Meta(extra={"read": records_of_call})]


class SamplingShape(Struct, frozen=True, kw_only=True):
    """``sampling = { one_in = 20, by = "count" }`` or ``sampling = { at_most = 60, per = "3 s" }``."""

    one_in: Positive | None = None
    by: Literal["count", "chance"] | None = None
    at_most: Positive | None = None
    per: Duration | None = None

    @property
    def sampler(self) -> Sampling:
        """How it chooses: by time, or one call in so many."""
        if self.per:
            return Sampling(by="time", at_most=self.at_most or 0, per_ns=self.per)
        return Sampling(self.one_in or 1, self.by or "count")


class SetupShape(Struct, frozen=True, kw_only=True):
    """``[common]``, and what a configuration shares with it. None where the table does not say the key."""

    FORMER: ClassVar[Mapping[str, str]] = {"jvm": "flags", "class_path": "search_path"}

    layers: tuple[Layer, ...] | None = None
    delivery: Delivery | None = None
    protocol: Text | None = None
    records_per_invocation: Positive | None = None
    records_per_call: dict[Name, RecordsOfCall] | None = None
    record_name: Text | None = None
    queue: Positive | None = None
    queue_trees: Positive | None = None
    held_back: Count | None = None
    flush_interval: Duration | None = None
    pause: Duration | None = None
    drop_log: Text | None = None
    deletes_oldest: bool | None = None
    most_output: Size | None = None
    wrapper: tuple[Text, ...] | None = None
    program: Text | None = None
    flags: tuple[Text, ...] = ()
    environment: dict[VariableName, str] = {}
    memory: MemoryShape | None = None
    search_path: tuple[Text, ...] | None = None
    own_search_path: tuple[Text, ...] | None = None
    tree_limit: Positive | None = None
    scrape: ScrapeShape | None = None
    sampling: SamplingShape | None = None


class ReleaseShape(Struct, frozen=True, kw_only=True):
    """``release = { artifact = "v1_8", line = "TCP" }``."""

    artifact: ArtifactName
    line: Text


class ConfigurationShape(SetupShape, frozen=True, kw_only=True):
    """``[configurations.<name>]``."""

    title: Text
    extends: str | None = None
    profile: Profile | None = None
    if_nothing_arrives: str | None = None
    published: dict[Name, Text] = {}
    release: ReleaseShape | None = None


class TechnologyShape(SetupShape, frozen=True, kw_only=True):
    """``[technologies.<name>]``."""

    title: Text
    published_as: Text | None = None


class InstrumentationsShape(Struct, frozen=True, kw_only=True):
    """``[instrumentations]``: how single ones are switched off."""

    scope: Text
    variable: Annotated[str, Meta(pattern="[A-Z_]+({NAME}[A-Z_]*)?", extra={"means": "a variable, as in A_{NAME}_B"})]
    value: Text


class AgentShape(Struct, frozen=True, kw_only=True):
    """The whole of ``agent.toml``."""

    FORMER: ClassVar[Mapping[str, str]] = {"java": "runtime"}

    name: Text
    homepage: Homepage
    licence: Text
    language: Text
    runtime: ReleasesShape
    kinds: tuple[Name, ...] = (CALL_TREE,)
    instrumentation: Text
    instrumentations: InstrumentationsShape | None = None
    reference: Name | None = None
    version: Text | None = None
    environment_prefixes: tuple[VariableName, ...] = ()
    artifacts: dict[ArtifactName, ArtifactShape] = {}
    prepare: tuple[PrepareShape, ...] = ()
    common: SetupShape = SetupShape()
    technology: Name | None = None
    technologies: dict[Name, TechnologyShape] = {}
    configurations: dict[Name, ConfigurationShape]


def artifact_of(name: str, said: ArtifactShape) -> Artifact:
    """``[artifacts.<name>]`` as the rest of Tracetax knows it."""
    return Artifact(
        name=name,
        maven=said.maven or "",
        sha256=said.sha256 or "",
        url=said.url or "",
        given=said.given or "",
        version_named=said.version or "",
        released=said.released or "",
    )


def release_of(said: ReleaseShape | None) -> Release | None:
    """``release`` of a configuration as the rest of Tracetax knows it."""
    return said and Release(said.artifact, said.line)


def instrumentations_of(said: InstrumentationsShape | None) -> Instrumentations | None:
    """``[instrumentations]`` as the rest of Tracetax knows it."""
    return said and Instrumentations(said.scope, said.variable, said.value)


def step_of(said: PrepareShape) -> PrepareStep:
    """``[[prepare]]`` as the rest of Tracetax knows it."""
    compilation, program, native = said.compile, said.run, said.cc
    return PrepareStep(
        name=said.name,
        unzip=said.unzip,
        strip=said.strip or 0,
        copy=said.copy,
        compile=Compilation(compilation.sources, compilation.class_path, compilation.release, compilation.jar or "")
        if compilation
        else None,
        run=Program(program.main, program.class_path, program.jvm, program.arguments) if program else None,
        go=GoBuild(said.go.sources, said.go.program, said.go.replace) if said.go else None,
        cc=NativeBuild(native.sources, native.library, native.include, native.links, native.packages)
        if native
        else None,
        pip=Packages(said.pip.lock) if said.pip else None,
        npm=Packages(said.npm.lock) if said.npm else None,
    )


def ancestry(name: str, configurations: Mapping[str, ConfigurationShape], report: Report) -> tuple[str, ...] | None:
    """A configuration and those it extends, the farthest first; None, with a problem, where that leads nowhere."""
    chain = [name]
    while (parent := configurations[chain[-1]].extends) is not None:
        key = join(join("configurations", chain[-1]), "extends")
        if parent not in configurations:
            hint = did_you_mean(parent, (other for other in configurations if other != chain[-1]))
            report.add(key, f'"{parent}" is no configuration of this file{hint}')
            return None
        if parent in chain:
            if parent == name:
                report.add(key, f"goes in a circle: {' → '.join([*chain, parent])}")
            return None
        chain.append(parent)
    return tuple(reversed(chain))


def merged(*setups: SetupShape) -> SetupShape:
    """What holds for the last of ``setups``, which takes from those before it, the nearest first.

    Flags are put one behind the other, where a system property given again replaces the earlier one; environment
    variables are merged by name; of everything else the last one said counts.
    """
    held: dict[str, Any] = {"flags": (), "environment": {}}
    for setup in setups:
        for key in SetupShape.__struct_fields__:
            said = getattr(setup, key)
            if key == "flags":
                held[key] = _flags(held[key], said)
            elif key == "environment":
                held[key] = {**held[key], **said}
            elif said is not None:
                held[key] = said
    return SetupShape(**held)


def _flags(earlier: tuple[str, ...], later: tuple[str, ...]) -> tuple[str, ...]:
    replaced = {_property(flag) for flag in later} - {None}
    return (*(flag for flag in earlier if _property(flag) not in replaced), *later)


def _property(flag: str) -> str | None:
    return flag.partition("=")[0] if flag.startswith("-D") else None
