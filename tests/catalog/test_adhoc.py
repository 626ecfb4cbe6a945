from typing import Any

import pytest

from tests.catalog.conftest import Repository, adhoc
from tracetax.catalog import CatalogError, every_agent
from tracetax.catalog.command_line import TypedExperiment
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Use


def test_agents_on_the_command_line_are_measured_as_shipped(repository: Repository) -> None:
    known = every_agent(repository.root).of("java")
    experiment = adhoc(known, TypedExperiment(agent="tracer", rate="500/s", depth=4))
    (part,) = experiment.parts
    assert part.uses == (Use("tracer", "stock"),)
    assert part.parameters == TreeParameters(calls=1_500, depth=4, rate=500.0)


def test_configurations_can_be_named_also_such_as_promise_nothing(repository: Repository) -> None:
    experiment = adhoc(
        every_agent(repository.root).of("java"), TypedExperiment(agent="tracer", configuration="off, stock,off")
    )
    assert experiment.parts[0].uses == (Use("tracer", "off"), Use("tracer", "stock"))
    with pytest.raises(CatalogError, match='Did you mean "stock"'):
        adhoc(every_agent(repository.root).of("java"), TypedExperiment(agent="tracer", configuration="stokc"))


def test_at_full_speed_a_trial_makes_a_fixed_number_of_calls(repository: Repository) -> None:
    experiment = adhoc(every_agent(repository.root).of("java"), TypedExperiment(agent="tracer"))
    assert experiment.parts[0].parameters == TreeParameters(calls=200_000, depth=10)


def test_every_wrong_option_is_reported_at_once(repository: Repository) -> None:
    with pytest.raises(CatalogError) as caught:
        adhoc(
            every_agent(repository.root).of("java"),
            TypedExperiment(agent="tracre,none", rate="1000", depth=0, heap="1"),
        )
    (report,) = caught.value.reports
    assert report.file == "the command line"
    assert {problem.key for problem in report.problems} == {"--agent", "--rate", "--depth", "--heap"}


def test_no_agent_at_all_is_refused(repository: Repository) -> None:
    with pytest.raises(CatalogError, match="names no agent"):
        adhoc(every_agent(repository.root).of("java"), TypedExperiment())


@pytest.mark.parametrize(
    ("options", "key", "text"),
    [
        ({"rate": ""}, "--rate", "is no rate"),
        ({"heap": ""}, "--heap", "is no size"),
        ({"depth": 1_001}, "--depth", "must be between 1 and 1,000, not 1,001"),
        ({"calls": 10**9 + 1}, "--calls", "must be between 1 and 1,000,000,000"),
        ({"threads": 0}, "--threads", "must be between 1 and 1,024, not 0"),
        ({"threads": 4, "rate": "1/s"}, "--threads", "is more than the 3 calls"),
    ],
)
def test_an_option_is_as_strict_as_the_same_value_in_a_file(
    repository: Repository, options: dict[str, Any], key: str, text: str
) -> None:
    with pytest.raises(CatalogError, match=f"{key}: .*{text}"):
        adhoc(every_agent(repository.root).of("java"), TypedExperiment(agent="tracer", **options))
