"""Datadog: every record at a low rate, what it drops and says so, what it samples, and where it cuts a tree."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent, sampled, verdicts, whole
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS, RATE = 300, "25/s"
"""Twelve seconds, for the agent sends its statistics every ten."""
MANY_CALLS = 20_000
CUT_AT = 100
"""Executions of a call that become spans at most."""


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    return measure_agent(tmp_path_factory.mktemp("rate"), "datadog", ["stock", "sampled"], calls=CALLS, rate=RATE)


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    whole(trials["stock"], CALLS)
    assert verdicts(trials["stock"]) == {}


def test_its_statistics_are_taken_apart_from_its_records(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["stock"].ledger
    assert ledger
    assert ledger.other_bytes.keys() == {"metrics", "stats", "telemetry", "configuration"}
    assert ledger.other_bytes["stats"] > 0


def test_what_it_samples_are_whole_trees_and_the_rest_is_told(trials: dict[str, TrialRecord]) -> None:
    ledger = sampled(trials["sampled"], CALLS)
    assert ledger.dropped_reported > ledger.received


def test_at_full_speed_what_arrives_and_what_is_told_are_what_was_made(tmp_path: Path) -> None:
    trials = measure_agent(tmp_path, "datadog", ["stock", "lossless"], calls=MANY_CALLS)
    stock = trials["stock"].ledger
    assert stock
    assert stock.received + stock.dropped_reported == stock.expected == 10 * MANY_CALLS
    assert stock.received == 10 * stock.complete_trees
    assert whole(trials["lossless"], MANY_CALLS).dropped_reported == 0


def test_what_a_tree_has_beyond_the_limit_is_truncated_and_not_lost(tmp_path: Path) -> None:
    # in the other version of the protocol
    trial = measure_agent(tmp_path, "datadog", ["strings-apart"], calls=CALLS, rate="300/s", depth=CUT_AT + 10)[
        "strings-apart"
    ]
    assert whole(trial, CALLS, CUT_AT).truncated == 10 * CALLS
    assert verdicts(trial)["truncated"] == "note"
