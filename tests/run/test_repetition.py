"""A trial that was disturbed is repeated once, at the end of its block, and the less disturbed of the two counts."""

from itertools import product
from pathlib import Path

import pytest

from tests.run.stand_ins import configuration, experiment
from tests.run.test_session import Watcher, session
from tracetax.results.blocks import whole_blocks
from tracetax.results.records import TrialRecord


def test_a_disturbed_trial_is_repeated_once_and_the_less_disturbed_of_the_two_counts(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", -99.0)  # every trial, on any machine
    monkeypatch.setattr("tracetax.run.calm.FEWEST", 99)  # and for as long as it takes
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
