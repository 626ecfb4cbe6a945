"""What files say of services and of the requests that are sent to them; every problem is told at once."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.services.repository import AGENT, KEY, WORKLOAD, repository
from tracetax.agent import CallRecords
from tracetax.catalog import CatalogError, every_agent, load_catalog
from tracetax.catalog.command_line import (
    TypedExperiment,
    TypedSearch,
    adhoc_experiment,
    searched_experiment,
    typed_workloads,
)
from tracetax.catalog.reading import COMMAND_LINE, Report
from tracetax.catalog.workload_file import check_offers, load_workload, read_programs
from tracetax.errors import UserError
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.model import BASELINE, FULL, Experiment, Rates, Search, Use
from tracetax.program import Service
from tracetax.service import Sent, Usage

EXPERIMENT = """
title = "What tracing costs a service"
workload = "requests/python"
[parameters]
requests = 3_000
endpoint = "json"
rate = "100/s"
[[configurations]]
agent = "fake"
use = ["sent"]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = repository(tmp_path)
    (root / "experiments").unlink()
    (root / "experiments").mkdir()
    (root / "experiments" / "trial.toml").write_text(EXPERIMENT)
    return root


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new))


def changed(root: Path, old: str, new: str) -> Experiment:
    """The experiment with another text in its file."""
    change(root / "experiments" / "trial.toml", old, new)
    return load_catalog("trial", root)[1]


def problems(error: CatalogError) -> dict[str, str]:
    return {problem.key: problem.text for report in error.reports for problem in report.problems}


def test_an_experiment_says_what_is_sent(root: Path) -> None:
    (part,) = load_catalog("trial", root)[1].parts
    assert part.parameters == RequestParameters(calls=3_000, rate=100.0, mix=(Weighted("json", 1),))
    assert part.levels == ""


def test_endpoints_are_levels_and_a_mix_is_one_by_its_shares(root: Path) -> None:
    said = 'endpoint = ["json", { rows = 4, work = 2 }]\nqueries = 5\narrivals = "poisson"\nconnections = 8'
    one, two = changed(root, 'endpoint = "json"', said).parts
    assert (one.name, one.levels) == ("trial-endpoint-json", "endpoint json")
    assert two.levels == "endpoint rows (66.7 %) and work (33.3 %)"
    assert two.name == "trial-endpoint-rows66-7andwork33-3"
    assert isinstance(two.parameters, RequestParameters)
    assert two.parameters.mix == (Weighted("rows", 2), Weighted("work", 1))
    assert (two.parameters.queries, two.parameters.arrivals, two.parameters.connections) == (5, "poisson", 8)


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('endpoint = "json"', 'endpoint = "jsn"', "parameters.endpoint", '"jsn" is no endpoint. Did you mean "json"?'),
        ('endpoint = "json"\n', "", "parameters.endpoint", "is missing"),
        ('endpoint = "json"', "endpoint = 3", "parameters.endpoint", "must be the name of an endpoint, or several"),
        ('endpoint = "json"', "endpoint = {}", "parameters.endpoint", "must be the name of an endpoint, or several"),
        ('endpoint = "json"', "endpoint = { json = 0 }", "parameters.endpoint", "must have a share that is a whole"),
        (
            'endpoint = "json"',
            "endpoint = { json = 5, rows = 2 }",
            "parameters.requests",
            "must be a multiple of 7, the sum of the endpoints' shares, not 3,000",
        ),
        ("requests = 3_000", "calls = 3_000", "parameters.calls", "there is no such key"),
        ("requests = 3_000", "requests = 3_000\ndepth = 3", "parameters.depth", "there is no such key"),
        ('"100/s"', '"0.01/s"', "parameters.requests", "would take 83 hours in each trial"),
        ('use = ["sent"]', 'use = ["sentt"]', "configurations[0].use[0]", 'Did you mean "sent"?'),
    ],
)
def test_what_an_experiment_says_wrong_is_told(root: Path, old: str, new: str, key: str, text: str) -> None:
    with pytest.raises(CatalogError) as raised:
        changed(root, old, new)
    assert text in problems(raised.value)[key]


def test_a_service_is_described_by_its_file(root: Path) -> None:
    workload, _ = load_workload(KEY, root)
    assert workload.service == Service(
        endpoints={"json": Sent("/json"), "rows": Sent("/rows?queries={queries}"), "work": Sent("/work")},
        ready_path="/json",
        ready_within_ns=5 * 10**9,
    )
    assert (workload.least_warm_up_calls, workload.offers.endpoints) == (600, ("json", "rows", "work"))


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('ready = { path = "/json", within = "5 s" }\n', "", "ready", "is missing"),
        ('"/work" }', '"work" }', "endpoints.work", "is not a path: it begins with a slash"),
        ("{queries}", "{query}", "endpoints.rows", 'no placeholder "{query}". Did you mean "queries"?'),
        ('{ path = "/json",', '{ path = "/{queries}",', "ready.path", 'no placeholder "{queries}"'),
        ("{listen.port}", "80", "environment", "must say on which port it is to listen"),
        ("{listen.port}", "{stores.x.url}", "environment.LISTEN", 'no placeholder "{stores.x.url}"'),
        ('"{wrapper}"', '"{wrapper}", "{arguments}"', "start[1]", 'no placeholder "{arguments}"'),
        ("\nready", '\nend = "KILL"\nready', "end", 'must be one of "INT", "TERM", not "KILL"'),
        ("\nready", '\noffers = { threads_max = 1, wait = ["spin"] }\nready', "offers", "there is no such key"),
        ("\nready", '\nstores = ["a b"]\nready', "stores[0]", "is not a name of at most 64 lower-case letters"),
    ],
)
def test_what_a_service_says_wrong_is_told(root: Path, old: str, new: str, key: str, text: str) -> None:
    file = root / "workloads" / KEY / "workload.toml"
    assert old in WORKLOAD
    file.write_text(WORKLOAD.replace(old, new, 1))
    with pytest.raises(CatalogError) as raised:
        load_workload(KEY, root)
    assert text in problems(raised.value)[key]


def test_all_problems_of_a_service_are_told_at_once(root: Path) -> None:
    file = root / "workloads" / KEY / "workload.toml"
    file.write_text('runtime = "pyton"\nstart = ["{runtime}"]\nendpoints = { A = "b" }\nstore = ["x"]\n')
    with pytest.raises(CatalogError) as raised:
        load_workload(KEY, root)
    expected = {"title", "runtime", "start", "endpoints.A", "ready", "store", "environment"}
    assert expected <= problems(raised.value).keys()


def test_a_service_may_refer_to_its_stores(root: Path) -> None:
    file = root / "workloads" / KEY / "workload.toml"
    change(file, "environment = {", 'stores = ["postgresql"]\nenvironment = { URL = "{stores.postgresql.url}",')
    workload, _ = load_workload(KEY, root)
    assert workload.service
    assert workload.service.stores == ("postgresql",)


def test_an_agent_is_there_for_the_kinds_that_its_file_names(root: Path) -> None:
    agents = every_agent(root)
    assert set(agents.of("python", "requests").agents) == {"fake", "none"}
    assert set(agents.of("python", "calltree").agents) == {"none"}
    change(root / "experiments" / "trial.toml", 'agent = "fake"', 'agent = "other"')
    (root / "agents" / "other" / "python").mkdir(parents=True)
    (root / "agents" / "other" / "python" / "agent.toml").write_text(AGENT.replace('kinds = ["requests"]', ""))
    with pytest.raises(CatalogError) as raised:
        load_catalog("trial", root)
    text = problems(raised.value)["configurations[0].agent"]
    assert "other is not set up for the kind requests in python. Write agents/other/python/requests/agent.toml" in text


def test_a_folder_below_the_languages_is_an_agent_for_the_kind_that_it_is_called_as(root: Path) -> None:
    both = root / "agents" / "both" / "python"
    (both / "requests").mkdir(parents=True)
    (both / "agent.toml").write_text(AGENT.replace('kinds = ["requests"]', "").replace('"Fake"', '"Tree"'))
    (both / "requests" / "agent.toml").write_text(AGENT)
    agents = every_agent(root)
    of_requests, of_trees = (agents.of("python", kind).agents["both"] for kind in ("requests", "calltree"))
    assert (of_requests.name, of_trees.name) == ("Fake", "Tree")
    assert of_requests.folder_in(root / "agents") == both / "requests"
    assert of_trees.folder_in(root / "agents") == both
    (both / "requests" / "agent.toml").write_text(AGENT.replace('["requests"]', '["requests", "calltree"]'))
    with pytest.raises(CatalogError) as raised:
        every_agent(root)
    assert problems(raised.value) == {"kinds": 'must be ["requests"], the name of its folder'}


def test_records_are_declared_by_endpoint(root: Path) -> None:
    config = every_agent(root).of("python", "requests").agents["fake"].configurations["sent"]
    assert config.records_per_call == {"json": CallRecords(1), "work": CallRecords(2), "rows": CallRecords(1, 1)}


@pytest.mark.parametrize("wrong", ["-1", '"few"', "{ fixed = 1, each = 2 }", "{ per_query = 2 }", "true", "[1]"])
def test_records_that_are_no_number_are_told(root: Path, wrong: str) -> None:
    change(root / "agents" / "fake" / "python" / "agent.toml", "{ json = 1,", f"{{ json = {wrong},")
    with pytest.raises(CatalogError) as raised:
        every_agent(root)
    text = 'must be a number of records, { fixed = 1, per_query = 2 } or "varies"'
    assert problems(raised.value) == {"configurations.sent.records_per_call.json": text}


def test_records_may_vary(root: Path) -> None:
    change(root / "agents" / "fake" / "python" / "agent.toml", "{ json = 1,", '{ json = "varies",')
    config = every_agent(root).of("python", "requests").agents["fake"].configurations["sent"]
    assert config.records_per_call["json"] is None


def test_an_experiment_that_asks_for_what_a_service_lacks_is_refused(root: Path) -> None:
    experiment, workload = load_catalog("trial", root)[1], load_workload(KEY, root)[0]
    check_offers(experiment, workload)
    change(root / "workloads" / KEY / "workload.toml", 'json = "/json", ', "")
    with pytest.raises(UserError, match='endpoint = "json", and it has "rows", "work"'):
        check_offers(experiment, load_workload(KEY, root)[0])


def typed(root: Path, **options: Any) -> Experiment:
    """The experiment that options ask for, of the service."""
    request = TypedExperiment(workload=KEY, agent="fake", configuration="sent", **options)
    report, agents = Report(COMMAND_LINE), every_agent(root)
    return adhoc_experiment(read_programs(typed_workloads(request), agents, root, report), request)


def test_options_say_what_is_sent(root: Path) -> None:
    experiment = typed(root, endpoint="json=3,rows", rate="50/s", queries=7, connections=9)
    mix = (Weighted("json", 3), Weighted("rows", 1))
    (part,) = experiment.parts
    assert part.parameters == RequestParameters(calls=1_500, rate=50.0, mix=mix, queries=7, connections=9)
    assert experiment.title == "What tracing costs at 50 requests/s to json (75 %) and rows (25 %)"


@pytest.mark.parametrize(
    ("options", "calls", "rate"),
    [
        ({}, 2_000, 100.0),
        ({"rate": "0.01/s"}, 2, 0.01),
        ({"rate": "full"}, 20_000, FULL),
        ({"calls": 40, "rate": "10/s"}, 40, 10.0),
    ],
)
def test_without_a_number_requests_come_in_whole_cycles(
    root: Path, options: dict[str, Any], calls: int, rate: float
) -> None:
    (part,) = typed(root, endpoint="json,rows", **options).parts
    assert (part.parameters.calls, part.parameters.rate) == (calls, rate)


@pytest.mark.parametrize(
    ("options", "key", "text"),
    [
        ({}, "--endpoint", 'is missing: it says what is requested. There is "json", "rows", "work"'),
        ({"endpoint": "jsn"}, "--endpoint", '"jsn" is no endpoint. Did you mean "json"?'),
        ({"endpoint": "json,"}, "--endpoint", 'as in db or db=3,json; not "json,"'),
        ({"endpoint": "json=x"}, "--endpoint", 'as in db or db=3,json; not "json=x"'),
        ({"endpoint": "json=0"}, "--endpoint", '"json" must have a share that is a whole number between 1 and 1,000'),
        ({"endpoint": "json,rows", "calls": 3}, "--calls", "must be a multiple of 2, the sum of the endpoints' shares"),
        ({"endpoint": "json", "queries": 501}, "--queries", "must be between 1 and 500, not 501"),
        (
            {"endpoint": "json", "depth": 3},
            "--depth",
            f"says nothing of {KEY}: --endpoint, --queries and",
        ),
    ],
)
def test_options_that_say_it_wrong_are_told(root: Path, options: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(CatalogError) as raised:
        typed(root, **options)
    assert text in problems(raised.value)[key]


def test_a_search_for_a_services_rate_takes_the_same_options(root: Path) -> None:
    request = TypedSearch(workload=KEY, agent="fake", configuration="sent", endpoint="rows", queries=2)
    report, agents = Report(COMMAND_LINE), every_agent(root)
    (program,) = read_programs([("--workload", KEY)], agents, root, report)
    experiment, _ = searched_experiment(program, request)
    assert experiment.parts[0].parameters == RequestParameters(calls=20_000, mix=(Weighted("rows", 1),), queries=2)


def searched(root: Path, typed: TypedSearch) -> tuple[Experiment, Search]:
    """What ``capacity`` searches of the repository's service."""
    (program,) = read_programs([("--workload", KEY)], every_agent(root), root, Report(COMMAND_LINE))
    return searched_experiment(program, typed)


def test_a_use_of_cpu_is_searched_for_without_an_agent_too(root: Path) -> None:
    typed = TypedSearch(workload=KEY, agent="fake", configuration="sent", endpoint="json", usage="75 % of 1 core")
    experiment, search = searched(root, typed)
    assert [part.title for part in experiment.parts] == ["No agent", "Fake (spans are sent at once)"]
    assert (search.usage, search.seconds) == (Usage(0.75, 1.0, "75 % of 1 core"), 10.0)
    assert experiment.title == "The rate at which a service uses 75 % of 1 core"


def test_a_search_has_one_thing_to_look_for(root: Path) -> None:
    typed = TypedSearch(workload=KEY, agent="fake", endpoint="json", usage="75 % of 1 core", slo="p99 < 5 ms")
    with pytest.raises(CatalogError, match="--usage: and --slo exclude each other"):
        searched(root, typed)


def test_an_experiment_that_searches_has_a_part_for_the_baseline_and_each_configuration(root: Path) -> None:
    experiment = changed(
        root, "[[configurations]]", '[search]\nusage = "50 % of 2 cores"\nfurther = 3\n[[configurations]]'
    )
    assert [part.uses for part in experiment.parts] == [(BASELINE,), (Use("fake", "sent"),)]
    assert [part.name for part in experiment.parts] == ["trial-none-baseline", "trial-fake-sent"]
    assert experiment.search == Search(seconds=10.0, further=3, usage=Usage(0.5, 2.0, "50 % of 2 cores"))


@pytest.mark.parametrize(
    ("said", "key", "text"),
    [
        ('usage = "75"', "search.usage", "75 % of 1 core"),
        ("further = 3", "search.usage", "is missing"),
        ('usage = "75 % of 1 core"\nfurther = 0', "search.further", "at least 1|between 1 and"),
    ],
)
def test_what_a_search_cannot_be_is_told_by_its_key(root: Path, said: str, key: str, text: str) -> None:
    with pytest.raises(CatalogError) as caught:
        changed(root, "[[configurations]]", f"[search]\n{said}\n[[configurations]]")
    assert re.search(text, problems(caught.value)[key])


def test_an_experiment_that_goes_by_a_search_needs_no_number_of_requests(root: Path) -> None:
    change(root / "experiments" / "trial.toml", 'rate = "100/s"\n', "")
    experiment = changed(root, "[[configurations]]", '[rates]\nof = "the-search"\nseconds = "20s"\n[[configurations]]')
    assert experiment.rates == Rates(of="the-search", share=0.5, seconds=20.0)
    with pytest.raises(CatalogError) as caught:
        changed(root, 'of = "the-search"', 'share = "150 %"')
    assert set(problems(caught.value)) == {"rates.of", "rates.share"}


def test_rates_stand_in_one_place(root: Path) -> None:
    said = '[rates]\nof = "a"\n[search]\nusage = "75 % of 1 core"\n[[configurations]]'
    with pytest.raises(CatalogError) as caught:
        changed(root, "[[configurations]]", said)
    assert "goes without [search]" in problems(caught.value)["rates"]
