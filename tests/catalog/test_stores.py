"""``stores/<name>/store.toml``: what is read, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import CatalogError
from tracetax.catalog.backends import load_stores
from tracetax.preparation import PrepareStep
from tracetax.store import Data, End, FileReady

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
    assert store.ready == FileReady("{store.dir}/state", 2, "up", 60 * 10**9)
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
        versions = {server.artifact.version for server in store.servers.values()}
        assert len(versions) == 1, "other machines would measure another store"
        assert all(version in readme for version in versions)
        assert {"x86_64", "aarch64"} <= store.servers.keys()
