"""Which trials count, and which values stand beside each other."""

from typing import Literal

import pytest
from msgspec.structs import replace

from tests.results.trials import HEAP, blocks, record
from tracetax.model import Use
from tracetax.results.blocks import baseline_pairs, paired, service_mean, whole_blocks
from tracetax.results.records import Cell, Disturbance, TrialRecord

CELL = Cell("p", Use(agent="fake", configuration="flat"), HEAP)


def test_values_of_a_block_stand_beside_its_own_baselines() -> None:
    found = paired(whole_blocks(blocks(3, spread=5)), CELL, service_mean)
    assert found.blocks == (1, 2, 3)
    assert list(found.values) == [1005, 995, 1005]
    assert list(found.baseline_1) == [100] * 3
    assert list(found.baseline_2) == [102] * 3


def test_an_interrupted_block_counts_for_nothing() -> None:
    trials = blocks(2)[:-1]
    assert list(whole_blocks(trials)) == [1]
    first, second = baseline_pairs(whole_blocks(trials), CELL, service_mean)
    assert (len(first), len(second)) == (1, 1)


def test_a_block_with_a_failure_is_whole_only_after_its_repetition() -> None:
    trials = [*blocks(1)[:1], blocks(1)[2], record(4, 1, status="failed")]
    assert list(whole_blocks(trials)) == []
    trials.append(record(5, 1, status="failed", attempt=2))
    assert list(whole_blocks(trials)) == [1]
    assert paired(whole_blocks(trials), CELL, service_mean).blocks == ()


def tried(attempt: int, steal: float, other: float, status: Literal["ok", "failed"] = "ok") -> TrialRecord:
    disturbance = Disturbance(
        steal=steal,
        other_cpu=other,
        tool_cpu=0.0,
        sink_cpu_ns=0,
        pressure_cpu_avg10=0.0,
        disturbed=steal + other > 0.15,
    )
    return replace(record(3 + attempt, 1, status=status, attempt=attempt), disturbance=disturbance)


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        (tried(1, 0.0, 0.3), tried(2, 0.0, 0.9), 1),
        (tried(1, 0.0, 0.9), tried(2, 0.0, 0.3), 2),
        (tried(1, 0.5, 0.0), tried(2, 0.1, 0.3), 2),
        (tried(1, 0.0, 0.3), tried(2, 0.0, 0.3), 1),
        (tried(1, 0.0, 0.9), tried(2, 0.0, 0.0, "failed"), 1),
        (tried(1, 0.0, 0.0, "failed"), tried(2, 0.0, 0.9), 2),
        (tried(1, 0.0, 0.0, "failed"), tried(2, 0.0, 0.0, "failed"), 2),
    ],
    ids=[
        *("first-calmer", "second-calmer", "steal-and-others-add-up", "alike"),
        *("second-failed", "first-failed", "both-failed"),
    ],
)
def test_of_a_repeated_trial_the_less_disturbed_good_one_counts(
    first: TrialRecord, second: TrialRecord, counts: int
) -> None:
    baselines = [one for one in blocks(1) if one.cell.role != "configuration"]
    found = whole_blocks([*baselines, first, second])[1]
    assert [one.attempt for one in found.values() if one.cell.role == "configuration"] == [counts]


def test_a_repetition_that_fails_does_not_undo_a_good_trial() -> None:
    trials = [*blocks(1), record(4, 1, status="failed", attempt=2)]
    assert list(paired(whole_blocks(trials), CELL, service_mean).values) == [1000]
