"""Datadog: every record at a low rate, what it drops and says so, what it samples, and where it cuts a tree."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import PATIENT, measure_each, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 300
MANY_CALLS = 20_000
CUT_AT = 100
"""Executions of a call that become spans at most."""
BRIEF = replace(PATIENT, warm_up=3.0)
"""What is counted does not depend on how warm it is."""
EXPERIMENT = """
title = "Datadog"
workload = "calltree/java"
result = false
[parameters]
depth = {depth}
rate = {rate}
calls = {calls}
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "datadog"
use = {use}
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "5min"
memory = false
"""


def measured(
    folder: Path, use: list[str], *, rate: str = '"300/s"', calls: int = CALLS, depth: int = 10
) -> dict[str, TrialRecord]:
    file = folder / "datadog.toml"
    file.write_text(EXPERIMENT.format(use=use, rate=rate, calls=calls, depth=depth))
    return measure_each(file, ROOT, folder / "run", BRIEF)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    return measured(tmp_path_factory.mktemp("rate"), ["stock", "sampled"])


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["stock"].ledger
    assert ledger
    assert ledger.expected == ledger.received == 10 * CALLS
    assert ledger.complete_trees == ledger.expected_trees == CALLS
    assert ledger.malformed == ledger.duplicates == ledger.orphans == ledger.unexpected_names == 0
    assert verdicts(trials["stock"]) == {}


def test_its_statistics_are_taken_apart_from_its_records(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["stock"].ledger
    assert ledger
    assert ledger.other_bytes.keys() == {"metrics", "stats", "telemetry", "configuration"}
    assert ledger.other_bytes["stats"] > 0


def test_what_it_samples_are_whole_trees_and_the_rest_is_told(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["sampled"].ledger
    assert ledger
    assert (ledger.expected, ledger.missing) == (0, 0)
    assert 0 < ledger.received == 10 * ledger.complete_trees < 10 * CALLS
    assert ledger.dropped_reported > ledger.received


def test_at_full_speed_what_arrives_and_what_is_told_are_what_was_made(tmp_path: Path) -> None:
    trials = measured(tmp_path, ["stock", "lossless"], rate='"full"', calls=MANY_CALLS)
    stock, lossless = trials["stock"].ledger, trials["lossless"].ledger
    assert stock
    assert lossless
    assert stock.received + stock.dropped_reported == stock.expected == 10 * MANY_CALLS
    assert stock.received == 10 * stock.complete_trees
    assert (lossless.received, lossless.dropped_reported) == (10 * MANY_CALLS, 0)


def test_what_a_tree_has_beyond_the_limit_is_truncated_and_not_lost(tmp_path: Path) -> None:
    # in the other version of the protocol
    trial = measured(tmp_path, ["strings-apart"], depth=CUT_AT + 10)["strings-apart"]
    ledger = trial.ledger
    assert ledger
    assert ledger.expected == ledger.received == CUT_AT * CALLS
    assert ledger.complete_trees == CALLS
    assert ledger.truncated == 10 * CALLS
    assert verdicts(trial)["truncated"] == "note"
