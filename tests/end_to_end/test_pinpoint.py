"""Pinpoint: every record at a low rate, what it samples, where it cuts a tree, and that its folder stays as it was."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent, verdicts, whole
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 120
RATE = "30/s"
"""What waits in the stream for longer than 32 KiB take is lost: here what comes in two seconds and more."""
CUT_AT = 65
"""Executions of a call that become events at most: one more than profiler.callstack.max.depth says."""
SAMPLED = 20
"""One of so many calls is traced, as shipped."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pinpoint")


@pytest.fixture(scope="module")
def trials(folder: Path) -> dict[str, TrialRecord]:
    return measure_agent(folder, "pinpoint", ["basic", "sampled", "no-measurement"], calls=CALLS, rate=RATE)


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    assert whole(trials["basic"], CALLS).requests == CALLS


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
    trial = measure_agent(tmp_path, "pinpoint", ["basic"], calls=calls, rate="30/s", depth=CUT_AT + 5)["basic"]
    whole(trial, calls, CUT_AT)
    assert "truncated" in verdicts(trial)
