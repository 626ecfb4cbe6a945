"""Several ways of getting an agent's probes into the program: their product with its configurations."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import TRACER, Repository, adhoc, searched
from tests.catalog.test_published import SECTION
from tracetax.catalog import every_agent, load_agents, load_catalog
from tracetax.catalog.command_line import TypedExperiment, TypedSearch
from tracetax.model import Delivery, Profile, Use

Change = Callable[[Path, str, str], None]
TECHNOLOGIES = """
[technologies.load-time]
title = "load time"
published_as = "Weaver (load time)"
flags = ["-javaagent:{artifacts.agent}", "-Dwoven=load"]

[technologies.build-time]
title = "build time"
published_as = "Weaver (build time)"
search_path = ["{agent.files}/woven", "{workload.built}"]
flags = ["-Dwoven=build", "-Dtracer.queue=7"]
queue = 512
"""
TABLE = """table,platform,agent,technology,configuration,statistic,unit,value,spread,spread_kind
Table 1,x86,none,,No instrumentation,mean,ns,64,1,standard_deviation
Table 1,x86,Tracer,Weaver (load time),Regular,mean,us,2,0.1,standard_deviation
Table 1,x86,Tracer,Weaver (build time),Regular,mean,us,1,0.1,standard_deviation
Table 1,ARM,Tracer,,Regular,mean,us,9,0.1,standard_deviation
"""


@pytest.fixture
def woven(repository: Repository, change: Change) -> Repository:
    """The small repository, whose tracer knows two ways."""
    text = TRACER.replace('language = "java"', 'language = "java"\ntechnology = "load-time"')
    repository.write("agents/tracer/java/agent.toml", text + TECHNOLOGIES)
    change(repository.tracer, '"-javaagent:{artifacts.agent}", "-Dtracer.to', '"-Dtracer.to')
    return repository


def test_every_configuration_exists_in_every_technology(woven: Repository) -> None:
    agent = load_agents(woven.root, "java")["tracer"]
    assert [(name, config.title, config.technology) for name, config in agent.configurations.items()] == [
        ("off", "off", "load-time"),
        ("off:build-time", "off, build time", "build-time"),
        ("stock", "as shipped", "load-time"),
        ("stock:build-time", "as shipped, build time", "build-time"),
        ("lossless", "large queue", "load-time"),
        ("lossless:build-time", "large queue, build time", "build-time"),
    ]


def test_a_technology_comes_after_what_is_common_and_before_the_configurations(woven: Repository) -> None:
    configurations = load_agents(woven.root, "java")["tracer"].configurations
    assert configurations["stock"].flags == (
        "-Dtracer.to={sink.otlp_http}",
        "-javaagent:{artifacts.agent}",
        "-Dwoven=load",
    )
    assert configurations["lossless:build-time"].flags == (
        "-Dtracer.to={sink.otlp_http}",
        "-Dwoven=build",
        "-Dtracer.queue={expected.records.next_power_of_two}",
    )
    assert configurations["lossless:build-time"].search_path == ("{agent.files}/woven", "{workload.built}")
    assert [configurations[name].queue for name in ("stock", "stock:build-time")] == [2048, 512]


def test_only_the_one_that_needs_no_name_is_as_shipped(woven: Repository) -> None:
    configurations = load_agents(woven.root, "java")["tracer"].configurations
    assert [configurations[name].profile for name in ("stock", "stock:build-time", "lossless:build-time")] == [
        Profile.STOCK,
        None,
        Profile.LOSSLESS,
    ]
    uses = adhoc(every_agent(woven.root).of("java"), TypedExperiment(agent="tracer")).parts[0].uses
    assert uses == (Use("tracer", "stock"),)


def test_an_experiment_measures_the_product(woven: Repository, change: Change) -> None:
    names = '["off", "stock"]\ntechnologies = ["load-time", "build-time"]'
    change(woven.experiment, '["off", "stock"]', names)
    _, experiment = load_catalog("trial", woven.root)
    assert [use.configuration for use in experiment.parts[0].uses] == [
        "off",
        "stock",
        "off:build-time",
        "stock:build-time",
    ]


def test_one_of_them_is_named_with_its_technology_also_the_one_that_needs_none(
    woven: Repository, change: Change
) -> None:
    change(woven.experiment, '["off", "stock"]', '["off:build-time", "stock:load-time"]')
    _, experiment = load_catalog("trial", woven.root)
    assert [use.configuration for use in experiment.parts[0].uses] == ["off:build-time", "stock"]
    typed, _ = searched(
        every_agent(woven.root).of("java"),
        TypedSearch(agent="tracer", configuration="stock:load-time,stock:build-time"),
    )
    assert [use.configuration for part in typed.parts for use in part.uses] == ["stock", "stock:build-time"]


@pytest.mark.parametrize(
    ("names", "key", "said"),
    [
        ('["off"]\ntechnologies = ["built-time"]', "technologies[0]", 'Did you mean "build-time"?'),
        ('["off"]\ntechnologies = ["load-time", "load-time"]', "technologies[1]", "is named twice"),
        ('["off"]\ntechnologies = []', "technologies", "is an empty list"),
        ('["off:load-time"]\ntechnologies = ["build-time"]', "technologies", "say a technology themselves"),
        ('["off:built-time"]', "use[0]", 'Did you mean "off:build-time"?'),
        ('["off", "off:load-time"]', "use[1]", "is named twice"),
    ],
)
def test_a_mistake_in_an_experiment_is_reported(
    woven: Repository, change: Change, names: str, key: str, said: str
) -> None:
    change(woven.experiment, '["off", "stock"]', names)
    assert said in woven.problems()[f"configurations[0].{key}"]


def test_technologies_of_an_agent_that_knows_one_way_are_refused(repository: Repository, change: Change) -> None:
    change(repository.experiment, '["off", "stock"]', '["off"]\ntechnologies = ["load-time"]')
    assert "has only one way" in repository.problems()["configurations[0].technologies[0]"]


def test_the_one_that_holds_anyway_must_be_named_and_be_there(woven: Repository, change: Change) -> None:
    change(woven.tracer, 'technology = "load-time"', 'technology = "lode-time"')
    assert 'Did you mean "load-time"?' in woven.problems()["tracer: technology"]
    change(woven.tracer, 'technology = "lode-time"', "")
    assert woven.problems()["tracer: technology"].startswith("is missing: which of")


def test_what_is_wrong_in_one_technology_only_is_said_with_its_name(woven: Repository, change: Change) -> None:
    change(woven.tracer, '"-Dwoven=build",', '"-Dwoven=build", "-Dtracer.to=nowhere",')
    (problem,) = (woven.problems()[f"tracer: configurations.{name}.protocol"] for name in ("stock",))
    assert problem.endswith('(with the technology "build-time")')


def test_a_published_row_is_that_of_the_technology_or_of_a_table_that_tells_none_apart(
    woven: Repository, change: Change
) -> None:
    woven.write("published/t2.csv", TABLE)
    woven.experiment.write_text(woven.experiment.read_text() + SECTION.replace('"The Tracer"', '"Tracer"'))
    change(woven.experiment, '["off", "stock"]', '["stock", "stock:build-time"]')
    change(woven.tracer, 'title = "as shipped"', 'title = "as shipped"\npublished = { trial = "Regular" }')
    _, experiment = load_catalog("trial", woven.root)
    assert [(row.use.configuration, row.platform, row.estimate) for row in experiment.published] == [
        ("stock", "x86", 2_000.0),
        ("stock:build-time", "x86", 1_000.0),
    ]


def test_without_technologies_nothing_is_different(repository: Repository) -> None:
    agent = load_agents(repository.root, "java")["tracer"]
    assert list(agent.configurations) == ["off", "stock", "lossless"]
    assert {config.technology for config in agent.configurations.values()} == {""}
    assert agent.configurations["stock"].delivery is Delivery.LOSSY


RATES = """table,platform,agent,technology,configuration,metric,unit,value,spread,spread_kind
Table 1,x86,none,,plain,throughput,traces/s,1000000,10,95% CI half width
Table 1,x86,Tracer,AspectJ,Before / full,throughput,traces/s,200000,10,95% CI half width
Table 2,x86,Tracer,AspectJ,After / full,throughput,traces/s,500000,10,95% CI half width
"""


@pytest.fixture
def stepwise(woven: Repository, change: Change) -> Repository:
    """Each technology is a table of rates, of which one word names the row."""
    woven.write("published/t1.csv", RATES)
    change(woven.tracer, '"Weaver (load time)"', '"Before"')
    change(woven.tracer, '"Weaver (build time)"', '"After"')
    change(woven.tracer, 'title = "as shipped"', 'title = "as shipped"\npublished = { trial = "{technology} / full" }')
    section = '\n[published]\ntable = "t1.csv"\nwhere = { metric = "throughput" }\n'
    woven.experiment.write_text(woven.experiment.read_text() + section)
    change(woven.experiment, '["off", "stock"]', '["stock"]\ntechnologies = ["load-time", "build-time"]')
    return woven


def test_a_row_can_be_named_by_the_technology_and_a_rate_stands_beside_times(stepwise: Repository) -> None:
    _, experiment = load_catalog("trial", stepwise.root)
    assert [(row.use.configuration, row.estimate, row.sd) for row in experiment.published] == [
        ("stock", 5_000.0, None),
        ("stock:build-time", 2_000.0, None),
    ]


def test_a_technology_that_tables_do_not_have_has_no_such_row(stepwise: Repository, change: Change) -> None:
    change(stepwise.tracer, 'published_as = "After"\n', "")
    _, experiment = load_catalog("trial", stepwise.root)
    assert [row.use.configuration for row in experiment.published] == ["stock"]


def test_a_technology_that_is_misspelled_is_said_with_the_rows_name(stepwise: Repository, change: Change) -> None:
    change(stepwise.tracer, 'published_as = "After"', 'published_as = "Afer"')
    (problem,) = stepwise.problems().values()
    assert '"Afer / full" is no row of Tracer in published/t1.csv. Did you mean "After / full"?' in problem
