"""What files say of functions, of their hosts and of how they are invoked; every problem is told at once."""

from pathlib import Path

import pytest

from tests.catalog.test_requests import change, problems
from tests.functions.repository import KEY, repository
from tracetax.catalog import CatalogError, every_agent, load_catalog
from tracetax.catalog.command_line import TypedExperiment, adhoc_experiment, typed_workloads
from tracetax.catalog.reading import COMMAND_LINE, Report
from tracetax.catalog.workload_file import load_workload, read_programs
from tracetax.kinds.functions import FunctionParameters, Price
from tracetax.kinds.requests import Weighted
from tracetax.model import FULL, Experiment
from tracetax.run.hosted import served_by
from tracetax.service import Sent

EXPERIMENT = """
title = "What tracing costs a function"
workload = "functions/python"
[parameters]
function = "sum"
invocations = 300
rate = "20/s"
[[configurations]]
agent = "fake"
use = ["sent"]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = repository(tmp_path)
    (root / "experiments" / "trial.toml").write_text(EXPERIMENT)
    return root


def changed(root: Path, old: str, new: str) -> Experiment:
    """The experiment with another text in its file."""
    change(root / "experiments" / "trial.toml", old, new)
    return load_catalog("trial", root)[1]


def test_an_experiment_says_which_function_is_invoked_and_how(root: Path) -> None:
    (part,) = load_catalog("trial", root)[1].parts
    assert part.parameters == FunctionParameters(
        calls=300, rate=20.0, mix=(Weighted("sum", 1),), connections=10, host="other"
    )


def test_hosts_modes_and_limits_are_levels(root: Path) -> None:
    said = 'host = ["plain", "other"]\nmode = ["warm", "cold"]\nmemory = ["128 MiB", 0]\ncpu = "25 % of 1 core"'
    parts = changed(root, 'function = "sum"', f'function = "sum"\n{said}\nfrozen = "5 s"').parts
    assert len(parts) == 8
    own = [part.parameters for part in parts]
    assert all(isinstance(one, FunctionParameters) for one in own)
    cold = [one for one in own if isinstance(one, FunctionParameters) and one.cold]
    assert {(one.calls, one.rate, one.connections, one.frozen_ns, one.cores) for one in cold} == {
        (1, FULL, 1, 5 * 10**9, 0.25)
    }
    assert {one.memory_bytes for one in cold} == {128 << 20, 0}
    assert parts[0].levels == "host plain, mode warm, memory 128 MiB"


def test_a_price_is_said_with_its_source(root: Path) -> None:
    price = 'price = { per_gb_second = 0.00002, per_million = 0.4, currency = "EUR", source = "ours, 2026" }'
    (part,) = changed(root, 'function = "sum"', f'function = "sum"\n{price}').parts
    assert isinstance(part.parameters, FunctionParameters)
    assert part.parameters.price == Price(0.00002, 0.4, "EUR", "ours, 2026")


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('function = "sum"', 'function = "sm"', "parameters.function", '"sm" is no function. Did you mean "sum"?'),
        ('function = "sum"\n', "", "parameters.function", "is missing"),
        ("invocations = 300\n", "", "parameters.invocations", "is missing"),
        ("invocations = 300", 'invocations = 300\nhost = "plane"', "parameters.host", 'Did you mean "plain"?'),
        ("invocations = 300", 'invocations = 3\nmemory = "1 MiB"', "parameters.memory", "is too little for a host"),
        ("invocations = 300", 'invocations = 3\ncpu = "fast"', "parameters.cpu", "fast"),
        ("invocations = 300", 'invocations = 3\nfrozen = "5"', "parameters.frozen", "5"),
        (
            "invocations = 300",
            'invocations = 3\npage_cache = "dropped"',
            "parameters.page_cache",
            'goes with mode = "cold"',
        ),
    ],
)
def test_what_an_experiment_says_wrong_is_told(root: Path, old: str, new: str, key: str, text: str) -> None:
    with pytest.raises(CatalogError) as raised:
        changed(root, old, new)
    assert text in problems(raised.value)[key]


def test_a_host_serves_one_function_with_its_stores_alone(root: Path) -> None:
    workload, _ = load_workload(KEY, root)
    assert tuple(workload.hosts) == ("other", "plain")
    own = served_by(workload, "plain", "sum")
    assert own.service
    sent = Sent("/", "POST", {"Content-Type": "application/json"}, '{"numbers": [1, 2, 3]}', contains='"sum": 6')
    assert own.service.endpoints == {"sum": sent}
    assert (own.service.ready_path, own.service.ready_within_ns, own.service.stores) == ("sum", 5 * 10**9, ())
    assert "STORE" not in own.environment
    assert served_by(workload, "plain", "keep").environment["STORE"] == "{stores.postgresql.url}"
    assert own.least_warm_up_calls == 200


HOST = Path("hosts/plain/host.toml")


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "text"),
    [
        (HOST, '"{wrapper}", ', "", "start", 'must have once each: "{wrapper}"'),
        (HOST, '"{flags}"', '"{flag}"', "start[3]", "{flag}"),
        (HOST, '"{flags}"', '"{host.program}", "{flags}"', "build", "must be there where"),
        (HOST, 'ready = "5 s"', 'ready = "5 s"\nbody = "none"', "body", 'must have "{event}" once'),
        (HOST, 'ready = "5 s"', 'ready = "5 s"\npathh = "/"', "pathh", 'Did you mean "path"?'),
        (Path("workload.toml"), "'{\"numbers\": [4]}'", "'{\"numbers\": '", "functions.keep.event", "is no JSON"),
        (Path("workload.toml"), "title =", 'start = ["{runtime}"]\ntitle =', "start", "goes without hosts"),
        (Path("workload.toml"), '"{function}"', '"{functions}"', "environment.FUNCTION", "{functions}"),
    ],
)
def test_what_a_workload_or_a_host_says_wrong_is_told(
    root: Path, file: Path, old: str, new: str, key: str, text: str
) -> None:
    change(root / "workloads" / KEY / file, old, new)
    with pytest.raises(CatalogError) as raised:
        load_workload(KEY, root)
    assert text in problems(raised.value)[key]
    assert any(report.file.endswith(file.as_posix()) for report in raised.value.reports if report.problems)


def test_functions_without_a_host_are_none(root: Path) -> None:
    for path in (root / "workloads" / KEY / "hosts").glob("*/host.toml"):
        path.unlink()
    with pytest.raises(CatalogError) as raised:
        load_workload(KEY, root)
    assert "is a folder without hosts" in problems(raised.value)["hosts"]


def typed(root: Path, **options: object) -> Experiment:
    """What is typed without a file."""
    asked = TypedExperiment(workload=KEY, agent="fake", **options)  # pyright: ignore[reportArgumentType]
    report = Report(COMMAND_LINE)
    programs = read_programs(typed_workloads(asked), every_agent(root), root, report)
    assert not report.problems
    return adhoc_experiment(programs, asked)


def test_a_function_can_be_typed(root: Path) -> None:
    (part,) = typed(root, function="sum", host="plain", rate="20/s", memory="256MiB", cpu="50 % of 1 core").parts
    assert part.parameters == FunctionParameters(
        calls=600, rate=20.0, mix=(Weighted("sum", 1),), connections=10, host="plain", memory_bytes=256 << 20, cores=0.5
    )
    (cold,) = typed(root, function="sum", cold=True, frozen="5s", page_cache="dropped").parts
    assert isinstance(cold.parameters, FunctionParameters)
    assert (cold.parameters.cold, cold.parameters.frozen_ns, cold.parameters.calls) == (True, 5 * 10**9, 1)
    assert cold.title == "As cold starts"


@pytest.mark.parametrize(
    ("options", "key", "text"),
    [
        ({}, "--function", "is missing: it says what is invoked. There is"),
        ({"function": "sm"}, "--function", '"sm" is no function'),
        ({"function": "sum", "host": "x"}, "--host", '"x" is no host'),
        ({"function": "sum", "cold": True, "rate": "5/s"}, "--rate", "goes without --cold"),
        ({"function": "sum", "page_cache": "dropped"}, "--page-cache", "goes with mode"),
        ({"function": "sum", "memory": "much"}, "--memory", "much"),
        ({"function": "sum", "depth": 3}, "--depth", "says nothing of functions/python"),
    ],
)
def test_what_is_typed_wrong_is_told(root: Path, options: dict[str, object], key: str, text: str) -> None:
    with pytest.raises(CatalogError) as raised:
        typed(root, **options)
    assert text in problems(raised.value)[key]
