"""Application Insights: every record at a low rate, and what it samples as shipped."""

import pytest

from tests.end_to_end.trials import measure_agent, sampled, verdicts, whole
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 300


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    folder = tmp_path_factory.mktemp("insights")
    return measure_agent(folder, "app-insights", ["stock", "every-call"], calls=CALLS, rate="100/s")


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    whole(trials["every-call"], CALLS)
    assert verdicts(trials["every-call"]) == {}


def test_as_shipped_it_keeps_a_few_calls_whole(trials: dict[str, TrialRecord]) -> None:
    sampled(trials["stock"], CALLS)
