"""A trial that was disturbed is repeated once, at the end of its block, and the last good one counts."""

from itertools import product
from pathlib import Path

import pytest

from tests.run.stand_ins import configuration, experiment
from tests.run.test_session import Watcher, session
from tracetax.results.blocks import whole_blocks


def test_a_disturbed_trial_is_repeated_once_and_its_repetition_counts(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", -99.0)  # every trial, on any machine
    config = configuration("flat")
    _, folder = session(tmp_path / "r", sink_binary, experiment(config, blocks=2), (config,), Watcher())
    records = folder.records()
    roles = ("baseline-1", "baseline-2", "configuration")
    made = sorted((record.block, record.role, record.attempt) for record in records)
    assert made == list(product((1, 2), roles, (1, 2)))
    assert [record.attempt for record in records] == [1, 1, 1, 2, 2, 2] * 2
    blocks = whole_blocks(records)
    assert sorted(blocks) == [1, 2]
    assert {record.attempt for block in blocks.values() for record in block.values()} == {2}
