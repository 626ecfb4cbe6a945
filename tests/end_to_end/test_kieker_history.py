"""Releases of Kieker: every record of each arrives in whole trees, over two ports and over one."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent

pytestmark = pytest.mark.real
CALLS, DEPTH = 5_000, 10
RELEASES = ["1-8", "1-12", "1-13", "1-15-2", "2-0-2"]
"""The first, the last with two ports, the first with one, the last of its line, and the last. All ten are in
docs/results/kieker-history.md."""


def test_releases_deliver_every_record_in_whole_trees(tmp_path: Path) -> None:
    names = [f"tcp-{release}" for release in RELEASES]
    trials = measure_agent(tmp_path, "kieker-history", names, calls=CALLS)
    assert trials.keys() == set(names)
    for name, trial in trials.items():
        ledger = trial.ledger
        assert ledger, trial.verdicts
        assert (ledger.received, ledger.complete_trees, ledger.malformed) == (CALLS * DEPTH, CALLS, 0), name
