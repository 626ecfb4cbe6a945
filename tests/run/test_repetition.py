"""A trial that was disturbed is repeated once, at the end of its block, and the less disturbed of the two counts."""

from itertools import product
from pathlib import Path

import pytest

from tests.results import trials
from tests.run.stand_ins import configuration, experiment
from tests.run.test_session import Watcher, session
from tracetax.results.blocks import whole_blocks
from tracetax.results.records import Disturbance, TrialRecord
from tracetax.run.judging import Repeating


def test_a_disturbed_trial_is_repeated_once_and_the_less_disturbed_of_the_two_counts(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", -99.0)  # every trial, on any machine
    monkeypatch.setattr("tracetax.run.judging.FEWEST_TRIALS", 99)  # and for as long as it takes
    config = configuration("flat")
    _, folder = session(tmp_path / "r", sink_binary, experiment(config, blocks=2), (config,), Watcher())
    records = folder.records()
    roles = ("baseline-1", "baseline-2", "configuration")
    made = sorted((record.block, record.cell.role, record.attempt) for record in records)
    assert made == list(product((1, 2), roles, (1, 2)))
    assert [record.attempt for record in records] == [1, 1, 1, 2, 2, 2] * 2
    blocks = whole_blocks(records)
    assert sorted(blocks) == [1, 2]
    for counted in (record for block in blocks.values() for record in block.values()):
        assert taken(counted) == min(taken(one) for one in records if same_cell(one, counted))


def taken(record: TrialRecord) -> float:
    assert record.disturbance
    return record.disturbance.steal + record.disturbance.other_cpu


def same_cell(one: TrialRecord, other: TrialRecord) -> bool:
    return (one.block, one.cell) == (other.block, other.cell)


def seen(disturbed: bool) -> TrialRecord:
    return trials.record(
        disturbance=Disturbance(
            steal=0.0, other_cpu=1.9, tool_cpu=0.0, sink_cpu_ns=0, pressure_cpu_avg10=0.0, disturbed=disturbed
        )
    )


def test_where_nearly_all_trials_are_disturbed_repeating_ends_and_begins_again_in_calm() -> None:
    repeating = Repeating()
    for _ in range(7):
        repeating.seen(seen(True))
    assert repeating.helps
    assert not repeating.news()
    repeating.seen(seen(True))
    assert not repeating.helps
    assert "8 of the last 8 trials were disturbed" in repeating.news()
    assert not repeating.news()
    repeating.seen(seen(False))
    assert "quieter" in repeating.news()
    assert repeating.helps
