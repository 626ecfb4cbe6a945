"""A service of the user's as it is typed: what is understood of it, and every mistake in one go."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.catalog.experiment_file import load_catalog, service_table
from tracetax.catalog.own.service import (
    TypedService,
    mix_to_type,
    read_service,
    service_of_file,
    service_runtime,
    service_workload,
)
from tracetax.catalog.reading import COMMAND_LINE, CatalogError, Report, raise_problems
from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.errors import UserError
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.place import data_folder
from tracetax.service import Objective, OwnService, Sent

COMMAND, URL = "java -jar 'my shop.jar' --port={port}", "http://127.0.0.1:{port}/owners?lastName="


def understood(typed: TypedService, folder: Path = Path("/")) -> OwnService:
    report = Report(COMMAND_LINE)
    service = read_service(typed, folder, report)
    assert not report.problems
    assert service
    return service


def problems(typed: TypedService) -> dict[str, str]:
    report = Report(COMMAND_LINE)
    assert read_service(typed, Path("/"), report) is None
    return {problem.key: problem.text for problem in report.problems}


def test_a_command_and_an_address_are_enough() -> None:
    service = understood(TypedService(service=COMMAND, url=URL))
    assert service.start == ("java", "-jar", "my shop.jar", "--port={listen.port}")
    assert service.endpoints == {"owners-lastname": Sent("/owners?lastName=")}
    assert (service.ready_path, service.port) == ("/owners?lastName=", 0)
    assert service.words == "java -jar my shop.jar --port={port}"


def test_what_is_run_around_a_start_is_a_command_too() -> None:
    service = understood(TypedService(service=COMMAND, url=URL, before="sh -c 'lay {port}'", after="clear-up"))
    assert service.before == ("sh", "-c", "lay {listen.port}")
    assert service.after == ("clear-up",)
    assert "cannot be split" in problems(TypedService(service=COMMAND, url=URL, before="'"))["--before"]
    assert "is empty" in problems(TypedService(service=COMMAND, url=URL, after=""))["--after"]


def test_a_fixed_port_is_taken_from_the_address() -> None:
    assert understood(TypedService(service="node shop.js", url="http://localhost:8080/")).port == 8080


def test_requests_stand_in_a_file(tmp_path: Path) -> None:
    lines = tmp_path / "requests.jsonl"
    lines.write_text(
        '{"path": "/orders", "weight": 3}\n\n'
        '{"path": "/orders", "method": "POST", "body": "{}", "status": 201, "headers": {"A": "b"}}\n'
        '{"path": "/orders", "name": "again"}\n{"path": "/orders"}\n'
    )
    service = understood(TypedService(service=COMMAND, url="http://127.0.0.1:{port}", requests=lines, ready="/up"))
    assert list(service.endpoints) == ["orders", "post-orders", "again", "orders-2"]
    assert service.endpoints["post-orders"] == Sent("/orders", "POST", {"A": "b"}, "{}", 201)
    assert mix_to_type(service) == "orders=3,post-orders=1,again=1,orders-2=1"
    assert service.ready_path == "/up"


@pytest.mark.parametrize(
    ("typed", "quantile", "limit_ns"),
    [("p99 < 50 ms", "p99", 50_000_000), ("p50<2ms", "median", 2_000_000), ("p99.9 < 1 s", "p99_9", 10**9)],
)
def test_an_objective_is_a_quantile_below_a_time(typed: str, quantile: str, limit_ns: int) -> None:
    objective = understood(TypedService(service=COMMAND, url=URL, slo=typed)).objective
    assert objective
    assert isinstance(objective, Objective)
    assert (objective.quantile, objective.limit_ns) == (quantile, limit_ns)


@pytest.mark.parametrize(
    ("service", "url", "key", "says"),
    [
        (COMMAND, "http://example.com:{port}/", "--url", '"example.com" is not this machine'),
        (COMMAND, "http://127.0.0.1.example.com:{port}/", "--url", "is not this machine"),
        (COMMAND, "http://10.0.0.1:{port}/", "--url", '"10.0.0.1" is not this machine'),
        (COMMAND, "https://127.0.0.1:{port}/", "--url", "must begin with http://"),
        (COMMAND, "http://127.0.0.1:99999/", "--url", "out of range"),
        (COMMAND, "http://127.0.0.1:8080/{port}", "--url", "in another place"),
        (COMMAND, "http://127.0.0.1:8080/", "--url", "must have {port} as its port too"),
        ("node shop.js", URL, "--service", "must say {port}"),
        ("node 'shop.js", URL, "--service", "cannot be split"),
        ("", URL, "--service", "is empty"),
        (COMMAND, None, "--url", "is missing"),
    ],
)
def test_what_cannot_be_measured_is_said_by_its_option(service: str, url: str | None, key: str, says: str) -> None:
    assert says in problems(TypedService(service=service, url=url))[key]


def test_mistakes_are_told_all_at_once(tmp_path: Path) -> None:
    lines = tmp_path / "requests.jsonl"
    lines.write_text('{"path": "orders"}\nno json\n{"path": "/", "wieght": 3}\n')
    told = problems(
        TypedService(service="", url=None, requests=lines, slo="p98 < 3 ms", service_with=("opentelemetry",))
    )
    assert {"--service", "--url", "--slo", "--service-with"} <= told.keys()
    assert {f"--requests {lines}, line {number}" for number in (1, 2, 3)} <= told.keys()
    assert "weight" in told[f"--requests {lines}, line 3"]


def test_an_agent_gets_in_by_what_the_runtime_reads() -> None:
    runtimes = sound_runtimes(data_folder())
    variables = {
        language: set(service_workload(service, runtime, Path("/files")).environment)
        for language in ("java", "node", "python", "go")
        for service in (understood(TypedService(service=COMMAND, url=URL, language=language)),)
        for runtime in (service_runtime(service, runtimes),)
    }
    assert variables == {
        "java": {"JAVA_TOOL_OPTIONS"},
        "node": {"NODE_OPTIONS"},
        "python": {"PYTHONPATH", "TRACETAX_SEARCH_PATH"},
        "go": set(),
    }


def test_an_unknown_language_is_said() -> None:
    service = understood(TypedService(service=COMMAND, url=URL, language="jav"))
    with pytest.raises(UserError, match='"jav" is no language'):
        service_runtime(service, sound_runtimes(data_folder()))


FILE = """
title = "What tracing costs the shop"
[service]
command = "node shop.js --port={port}"
url = "http://127.0.0.1:{port}/"
requests = "requests.jsonl"
slo = "p99 < 50 ms"
[parameters]
requests = 400
rate = "100/s"
[[configurations]]
agent = "opentelemetry"
use = ["otlp"]
[schedule]
blocks = { min = 2, max = 2 }
budget = "5min"
"""


def described(folder: Path, text: str = FILE) -> OwnService:
    """The service that an experiment's file describes, as it is once it was tried."""
    file = folder / "shop.toml"
    file.write_text(text)
    (folder / "requests.jsonl").write_text('{"path": "/", "weight": 3}\n{"path": "/orders"}\n')
    table = service_table(str(file), data_folder())
    assert table
    report = Report(file.name)
    service = service_of_file(table[1], folder, report)
    raise_problems(report)
    assert service
    return replace(service, language="node", program="/usr/bin/node")


def test_a_file_describes_a_service_and_what_is_measured_of_it(tmp_path: Path) -> None:
    service = described(tmp_path)
    agents, experiment = load_catalog(str(tmp_path / "shop.toml"), data_folder(), service=service)
    (part,) = experiment.parts
    assert (experiment.workload, experiment.service, part.settings) == ("requests/node", service, {})
    assert part.parameters == RequestParameters(
        calls=400, rate=100.0, mix=(Weighted("root", 3), Weighted("orders", 1)), learned=()
    )
    assert agents["opentelemetry"].language == "node"
    assert service.directory == str(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        ("command =", "comand =", "service.comand"),
        ('slo = "p99', 'slo = "p98', "service.slo"),
        ("http://127.0.0.1:{port}", "http://example.com", "service.url"),
        ("requests.jsonl", "none.jsonl", "service.requests"),
        ("--port={port}", "", "service.command: must say {port}"),
    ],
)
def test_a_mistake_in_a_file_is_said_by_its_key(tmp_path: Path, wrong: str, right: str, says: str) -> None:
    with pytest.raises(CatalogError) as caught:
        described(tmp_path, FILE.replace(wrong, right))
    assert says in str(caught.value)


def test_a_service_and_a_workload_exclude_each_other(tmp_path: Path) -> None:
    service = described(tmp_path, f'workload = "requests/node"\n{FILE}')
    with pytest.raises(CatalogError, match="workload: goes without"):
        load_catalog(str(tmp_path / "shop.toml"), data_folder(), service=service)


def test_an_experiment_without_either_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "none.toml"
    file.write_text('title = "T"\n[[configurations]]\nagent = "none"\n')
    with pytest.raises(CatalogError, match="workload: is missing"):
        load_catalog(str(file), data_folder())
