"""``stores/<name>/store.toml``: what is read, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import CatalogError
from tracetax.catalog.stores import load_stores
from tracetax.preparation import GoBuild, PrepareStep
from tracetax.store import ANY, Content, Data, End, Files, Server, StoreReady

ROOT = Path(__file__).parents[2]
STORE = """
name = "Store"
homepage = "https://example.org"
licence = "Apache-2.0"
make = ["{server}/make", "--at={store.dir}", "--password={store.password_file}"]
start = ["{server}/serve", "--port={store.port}"]
url = "store://me:{store.password}@127.0.0.1:{store.port}/all"
ready = { file = "{store.dir}/state", line = 2, text = "up" }
end = { signal = "INT" }

[servers.x86_64]
maven = "org.example:store:4.5"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
archive = "programs.txz"

[statements]
begin = "BEGIN COUNTING"
count = "COUNT"

[data.some]
make = ["MAKE {seed}"]
rows = "ROWS"
"""
FILES = """
name = "Files"
homepage = "https://example.org"
licence = "Apache-2.0"
start = ["{server}/serve", "{store.dir}"]
url = "http://127.0.0.1:{store.port}"
ready = {}
end = { signal = "INT" }
go = { sources = "server", package = "example.org/serve", program = "serve", version = "1.2" }

[files.some]
folder = "{store.dir}/some"
attributes = { "user.who" = "all" }

[files.some.content]
a = { bytes = "1 KiB" }
"b.png" = { picture = { width = 80, height = 40 } }
"c.y4m" = { film = { width = 32, height = 16, frames = 5 } }
"""
Change = Callable[[Path, str, str], None]


@pytest.fixture
def file(repository: Repository) -> Path:
    repository.write("stores/store/store.toml", STORE)
    return repository.root / "stores" / "store" / "store.toml"


def test_everything_is_read(repository: Repository, file: Path) -> None:
    store = load_stores(repository.root)["store"]
    assert (store.title, store.user) == ("Store 4.5", "")
    assert store.servers["x86_64"].steps == (
        PrepareStep("jar", unzip=("{artifacts.server}",)),
        PrepareStep("server", unzip=("{prepared.jar}/programs.txz",)),
    )
    assert store.ready == StoreReady("{store.dir}/state", 2, "up", 60 * 10**9)
    assert store.end == End("INT", 10 * 10**9, "KILL")
    assert store.data == {"some": Data(("MAKE {seed}",), "ROWS")}


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("{store.port}/all", "{store.prt}/all", "url", 'Did you mean "store.port"?'),
        ("{server}/make", "{prepared.server}/make", "make[0]", 'no placeholder "{prepared.server}"'),
        ("--port={store.port}", "--port={port}", "start[1]", 'no placeholder "{port}"'),
        ("{store.dir}/state", "{dir}/state", "ready.file", 'no placeholder "{dir}"'),
        ("MAKE {seed}", "MAKE {sed}", "data.some.make[0]", 'Did you mean "seed"?'),
        ('make = ["MAKE {seed}"]', "make = []", "data.some.make", "is an empty list"),
        ('start = ["{server}/serve", "--port={store.port}"]', "start = []", "start", "its first word is the program"),
        ('signal = "INT"', 'signal = "HUP"', "end.signal", "INT"),
        ("line = 2", "line = 0", "ready.line", "1"),
        ('archive = "programs.txz"', 'archive = "../programs.txz"', "servers.x86_64.archive", "a path inside"),
        ("[servers.x86_64]", "[servers.X86]", "servers.X86", "uname -m"),
        ('count = "COUNT"', "", "statements.count", "is missing"),
    ],
)
def test_what_is_wrong_in_a_stores_file_is_told_with_its_key(
    repository: Repository,
    file: Path,
    change: Callable[[Path, str, str], None],
    old: str,
    new: str,
    key: str,
    words: str,
) -> None:
    change(file, old, new)
    with pytest.raises(CatalogError) as wrong:
        load_stores(repository.root)
    assert wrong.value.reports[0].file == "stores/store/store.toml"
    found = {problem.key: problem.text for report in wrong.value.reports for problem in report.problems}
    assert words in found[key], found


def test_every_shipped_store_loads_and_is_explained() -> None:
    shipped = load_stores(ROOT)
    assert shipped
    for key, store in shipped.items():
        readme = (ROOT / "stores" / key / "README.md").read_text(encoding="utf-8")
        versions = {server.version for server in store.servers.values()}
        assert len(versions) == 1, "other machines would measure another store"
        assert all(version in readme for version in versions)
        assert {"x86_64", "aarch64"} <= store.servers.keys() or {ANY} == store.servers.keys()


def test_a_store_without_statements_finds_files_and_is_built_by_go(repository: Repository) -> None:
    repository.write("stores/files/store.toml", FILES)
    store = load_stores(repository.root)["files"]
    assert (store.title, store.make, store.statements, store.data) == ("Files 1.2", (), None, {})
    assert store.ready == StoreReady(within_ns=60 * 10**9)
    build = GoBuild("{backend.files}/server", "serve", package="example.org/serve")
    assert store.servers == {ANY: Server("1.2", (PrepareStep("server", go=build),))}
    content = {"a": Content(bytes=1024), "b.png": Content(picture=(80, 40)), "c.y4m": Content(film=(32, 16, 5))}
    assert store.files == {"some": Files("{store.dir}/some", {"user.who": "all"}, content)}


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('folder = "{store.dir}/some"', 'folder = "/some"', "files.some.folder", "must begin with {store.dir}/"),
        ('a = { bytes = "1 KiB" }', "a = {}", "files.some.content.a", "one of bytes, picture and film"),
        ("width = 32", "width = 33", 'files.some.content."c.y4m"', "an even width"),
        ("height = 40", "height = 0", 'files.some.content."b.png".picture.height', "2"),
        ('"c.y4m"', '"../c.y4m"', 'files.some.content."../c.y4m"', "a path inside"),
        ("ready = {}", "ready = { line = 3 }", "ready", "file, line and text"),
        ("go = {", "build = {", "servers", "go how one is built"),
    ],
)
def test_what_is_wrong_with_files_is_told_with_its_key(
    repository: Repository, old: str, new: str, key: str, words: str
) -> None:
    assert old in FILES
    repository.write("stores/files/store.toml", FILES.replace(old, new))
    with pytest.raises(CatalogError) as wrong:
        load_stores(repository.root)
    found = {problem.key: problem.text for report in wrong.value.reports for problem in report.problems}
    assert words in found[key], found
