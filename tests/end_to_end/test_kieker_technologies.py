"""Kieker's probes by every technology that can be had, with real trials: the same records in the same trees."""

import pytest

from tests.end_to_end.trials import measure_agent, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 500
TECHNOLOGIES = (
    "aspectj-load-time",
    "aspectj-compile-time",
    "aspectj-static-signature",
    "bytebuddy-load-time",
    "bytebuddy-build-time",
    "javassist-load-time",
    "javassist-build-time",
    "source",
)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    folder = tmp_path_factory.mktemp("technologies")
    return measure_agent(folder, "kieker", ["binary-tcp", "binary-file"], calls=CALLS, technologies=TECHNOLOGIES)


@pytest.mark.parametrize("writer", ["binary-tcp", "binary-file"])
@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_every_technology_makes_the_same_records_in_the_same_trees(
    trials: dict[str, TrialRecord], writer: str, technology: str
) -> None:
    trial = trials[writer if technology == "bytebuddy-load-time" else f"{writer}:{technology}"]
    assert not {code for code, severity in verdicts(trial).items() if severity != "note"}
    assert trial.ledger
    assert trial.ledger.received == trial.ledger.expected == CALLS * 10
    assert trial.ledger.complete_trees == CALLS
    assert trial.ledger.malformed == trial.ledger.duplicates == trial.ledger.orphans == 0
