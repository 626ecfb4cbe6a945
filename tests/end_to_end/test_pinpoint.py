"""Pinpoint: every record at a low rate, what it samples, where it cuts a tree, and that its folder stays as it was."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import PATIENT, measure_each, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 300
RATE = 100
"""Calls a second. What waits in the stream for longer than 32 KiB take is lost: here the better part of a second."""
CUT_AT = 65
"""Executions of a call that become events at most: one more than profiler.callstack.max.depth says."""
SAMPLED = 20
"""One of so many calls is traced, as shipped."""
BRIEF = replace(PATIENT, warm_up=3.0)
"""What is counted does not depend on how warm it is."""
EXPERIMENT = """
title = "Pinpoint at a low rate"
workload = "calltree/java"
result = false
[parameters]
depth = {depth}
rate = "{rate}/s"
calls = {calls}
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "pinpoint"
use = {use}
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "5min"
memory = false
"""


def measured(
    folder: Path, use: list[str], depth: int = 10, rate: int = RATE, calls: int = CALLS
) -> dict[str, TrialRecord]:
    file = folder / "pinpoint.toml"
    file.write_text(EXPERIMENT.format(use=use, depth=depth, rate=rate, calls=calls))
    return measure_each(file, ROOT, folder / "run", BRIEF)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pinpoint")


@pytest.fixture(scope="module")
def trials(folder: Path) -> dict[str, TrialRecord]:
    return measured(folder, ["basic", "sampled", "no-measurement"])


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["basic"].ledger
    assert ledger
    assert ledger.expected == ledger.received == 10 * CALLS
    assert ledger.complete_trees == ledger.expected_trees == ledger.requests == CALLS
    assert ledger.malformed == ledger.duplicates == ledger.orphans == ledger.unexpected_names == ledger.cut_off == 0


def test_one_of_twenty_traces_is_taken_and_arrives_whole(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["sampled"].ledger
    assert ledger
    assert (ledger.expected, ledger.missing) == (0, 0)
    assert ledger.received == 10 * CALLS // SAMPLED
    assert ledger.complete_trees == CALLS // SAMPLED


def test_where_nothing_is_instrumented_nothing_arrives(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["no-measurement"].ledger
    assert ledger
    assert ledger.received == ledger.unexpected_names == 0
    assert verdicts(trials["no-measurement"]) == {}


def test_the_agent_logs_into_the_folder_of_its_trial(folder: Path, trials: dict[str, TrialRecord]) -> None:
    logs = list(folder.glob("run/trials/*/pinpoint.log"))
    assert len(logs) == len(trials)
    assert not any(" DEBUG " in log.read_text() for log in logs)


def test_a_deep_tree_is_cut_where_the_agent_cuts_it(tmp_path: Path) -> None:
    calls = 60
    trial = measured(tmp_path, ["basic"], depth=CUT_AT + 5, rate=30, calls=calls)["basic"]
    ledger = trial.ledger
    assert ledger
    assert ledger.expected == ledger.received == CUT_AT * calls
    assert ledger.complete_trees == calls
    assert "truncated" in verdicts(trial)
