"""``backends/<name>/backend.toml`` and ``--backend``: what is read, what is refused, and what is measured twice."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.backend import Backend
from tracetax.catalog import CatalogError, load_agents, load_catalog
from tracetax.catalog.backends import load_backends, with_backends
from tracetax.errors import UserError
from tracetax.model import Use
from tracetax.preparation import GoBuild

ROOT = Path(__file__).parents[2]
SERVER = """
name = "Server"
homepage = "https://example.org"
licence = "Apache-2.0"
accepts = ["otlp-http", "zipkin"]

[artifacts.server]
maven = "org.example:server:4.5"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[[prepare]]
name = "home"
go = { sources = "{backend.files}/tool", program = "tool" }

[start]
jar = "{artifacts.server}"
jvm = ["-Xmx1g"]
arguments = ["--port={port.otlp_http}", "--tool={prepared.home}/tool"]
environment = { TELL = "{port.metrics}", DATA = "{trial.dir}" }

[ready]
port = "otlp_http"
path = "/health"
within = "5 s"

[counters]
port = "metrics"
path = "/metrics"
format = "prometheus"
received = ['spans{by="http"}']
"""
Change = Callable[[Path, str, str], None]


@pytest.fixture
def file(repository: Repository) -> Path:
    repository.write("backends/server/backend.toml", SERVER)
    return repository.root / "backends" / "server" / "backend.toml"


def backends(repository: Repository) -> dict[str, Backend]:
    return load_backends(repository.root)


def test_everything_is_read(repository: Repository, file: Path) -> None:
    backend = backends(repository)["server"]
    assert (backend.title, backend.ports) == ("Server 4.5", ("otlp_http", "zipkin", "metrics"))
    assert backend.prepare[0].go == GoBuild("{backend.files}/tool", "tool")
    assert backend.ready.within_ns == 5 * 10**9
    assert backend.counters.received == ('spans{by="http"}',)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('"otlp-http", "zipkin"', '"otlp-htp"', "accepts[0]", 'Did you mean "otlp-http"?'),
        ('"otlp-http", "zipkin"', '"prometheus"', "accepts[0]", "none of those that an agent can send to"),
        ('"otlp-http", "zipkin"', "", "accepts", "is an empty list"),
        ('accepts = ["', 'version = "1"\naccepts = ["', "version", "only there"),
        ('jar = "{artifacts.server}"', "", "start", "one of program, jar and main"),
        ('jar = "{artifacts.server}"', 'program = "{artifacts.server}"', "start.jvm", "is no JVM"),
        ('jar = "{artifacts.server}"', 'main = "a.Main"', "start.class_path", "is missing"),
        ("{port.otlp_http}", "{port.otlp_grpc}", "start.arguments[0]", 'no placeholder "{port.otlp_grpc}"'),
        ("{backend.files}", "{agent.files}", "prepare[0].go.sources", 'no placeholder "{agent.files}"'),
        ("{backend.files}", "tool", "prepare[0].go.sources", '"{backend.files}/tool'),
        ('port = "otlp_http"', 'port = "otlp"', "ready.port", "none of its ports"),
        ("received = ['spans{by=\"http\"}']", "received = []", "counters.received", "is an empty list"),
        ('format = "prometheus"', 'format = "xml"', "counters.format", "json"),
    ],
)
def test_what_is_wrong_is_told_with_its_key(
    repository: Repository, file: Path, change: Change, old: str, new: str, key: str, words: str
) -> None:
    change(file, old, new)
    with pytest.raises(CatalogError) as wrong:
        backends(repository)
    found = {problem.key: problem.text for report in wrong.value.reports for problem in report.problems}
    assert words in found[key]


def test_what_it_takes_is_measured_twice(repository: Repository, file: Path) -> None:
    agents, experiment = load_catalog("trial", repository.root)
    found = with_backends(experiment, agents, backends(repository), ["server"])
    assert found.experiment.parts[0].uses == (
        Use("tracer", "off"),
        Use("tracer", "stock"),
        Use("tracer", "stock", backend="server"),
    )
    assert (list(found.backends), found.notes) == (["server"], ())
    assert str(found.experiment.parts[0].uses[2]) == "tracer stock → server"


def test_one_that_holds_back_until_its_end_stays_at_the_sink(
    repository: Repository, file: Path, change: Change
) -> None:
    change(repository.tracer, 'flush_interval = "5 s"\n', "")
    change(
        repository.tracer,
        'title = "large queue"\nextends = "stock"',
        'title = "large queue"\nextends = "stock"\nflush_interval = "1 s"',
    )
    change(repository.experiment, '["off", "stock"]', '["stock", "lossless"]')
    agents, experiment = load_catalog("trial", repository.root)
    found = with_backends(experiment, agents, backends(repository), ["server"])
    assert [use.backend for use in found.experiment.parts[0].uses] == ["", "", "server"]
    (note,) = found.notes
    assert note.startswith("tracer stock is measured at the sink only: it holds back records until its process ends")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["sever"], 'Did you mean "server"?'),
        (["server", "server"], "is given twice"),
    ],
)
def test_a_name_that_cannot_be_used(repository: Repository, file: Path, names: list[str], words: str) -> None:
    agents, experiment = load_catalog("trial", repository.root)
    with pytest.raises(UserError, match=r"the command line has 1 problem") as wrong:
        with_backends(experiment, agents, backends(repository), names)
    assert words in str(wrong.value)


def test_one_that_takes_nothing_of_it_is_refused(repository: Repository, file: Path, change: Change) -> None:
    change(repository.experiment, '["off", "stock"]', '["off"]')
    agents, experiment = load_catalog("trial", repository.root)
    with pytest.raises(CatalogError, match='takes records by "otlp-http", "zipkin", and nothing that trial measures'):
        with_backends(experiment, agents, backends(repository), ["server"])


def test_every_shipped_backend_loads_and_is_explained() -> None:
    shipped = load_backends(ROOT)
    assert shipped
    used = {one.protocol for agent in load_agents(ROOT, "java").values() for one in agent.configurations.values()}
    for key, backend in shipped.items():
        readme = (ROOT / "backends" / key / "README.md").read_text(encoding="utf-8")
        assert backend.version in readme
        assert set(backend.accepts) & used, "no agent sends to it"
