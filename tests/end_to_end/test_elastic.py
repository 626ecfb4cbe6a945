"""Elastic APM: every record at a low rate, drops that it admits at full speed, the limit of its trees, and silence."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent, verdicts, whole
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 300
FULL_SPEED = 20_000
LIMIT = 501
METRICS = 13
"""Events, every 30 s; where its queue is full then, they are among those that it admits to have dropped."""


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    folder = tmp_path_factory.mktemp("elastic")
    return measure_agent(folder, "elastic", ["stock", "agent-off", "recording-off"], calls=CALLS, rate="100/s")


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    whole(trials["stock"], CALLS)
    assert verdicts(trials["stock"]) == {}


@pytest.mark.parametrize("name", ["agent-off", "recording-off"])
def test_what_is_switched_off_sends_nothing(trials: dict[str, TrialRecord], name: str) -> None:
    trial = trials[name]
    assert trial.ledger
    assert (trial.status, trial.ledger.received, verdicts(trial)) == ("ok", 0, {})


def test_at_full_speed_what_arrives_and_what_its_log_admits_are_what_was_made(tmp_path: Path) -> None:
    ledger = measure_agent(tmp_path, "elastic", ["stock"], calls=FULL_SPEED)["stock"].ledger
    assert ledger
    assert 0 < ledger.received < ledger.expected == 10 * FULL_SPEED
    assert 0 <= ledger.received + ledger.dropped_reported - ledger.expected <= METRICS


def test_what_a_tree_has_beyond_the_limit_is_truncated_and_not_lost(tmp_path: Path) -> None:
    trial = measure_agent(tmp_path, "elastic", ["stock"], calls=60, rate="10/s", depth=LIMIT + 10)["stock"]
    ledger = trial.ledger
    assert ledger
    assert (ledger.expected, ledger.truncated) == (60 * LIMIT, 60 * 10)
    # a whole call comes at once, and its queue takes 512 events: some are dropped now and then
    assert 0 <= ledger.received + ledger.dropped_reported - ledger.expected <= METRICS
    assert verdicts(trial)["truncated"] == "note"
