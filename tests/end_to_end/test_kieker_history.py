"""Ten releases of Kieker: every record of each arrives in whole trees, over two ports and over one."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent
from tracetax.catalog import load_agents
from tracetax.place import data_folder

pytestmark = pytest.mark.real
CALLS, DEPTH = 5_000, 10


def test_every_release_delivers_every_record_in_whole_trees(tmp_path: Path) -> None:
    agent = load_agents(data_folder(), "java")["kieker-history"]
    names = [name for name in agent.configurations if name.startswith("tcp-")]
    assert len(names) == 12
    trials = measure_agent(tmp_path, "kieker-history", names, calls=CALLS)
    assert trials.keys() == set(names)
    for name, trial in trials.items():
        ledger = trial.ledger
        assert ledger, trial.verdicts
        assert (ledger.received, ledger.complete_trees, ledger.malformed) == (CALLS * DEPTH, CALLS, 0), name
