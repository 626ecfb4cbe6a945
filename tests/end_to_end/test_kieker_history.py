"""Ten releases of Kieker: every record of each arrives in whole trees, over two ports and over one."""

from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.catalog import load_agents
from tracetax.place import data_folder
from tracetax.results.folder import RunFolder

pytestmark = pytest.mark.real
CALLS, DEPTH = 5_000, 10


def test_every_release_delivers_every_record_in_whole_trees(tmp_path: Path) -> None:
    agent = load_agents(data_folder(), "java")["kieker-history"]
    names = [name for name in agent.configurations if name.startswith("tcp-")]
    assert len(names) == 12
    status, printed = tracetax(
        *("run", "--agent", "kieker-history", "--configuration", ",".join(names), "--rate", "full"),
        *("--calls", str(CALLS), "--depth", str(DEPTH), "--blocks", "1", "--out", str(tmp_path / "run")),
    )
    assert status == 0, printed
    records = RunFolder(tmp_path / "run").records()
    ledgers = {
        record.cell.use.configuration: record.ledger for record in records if record.cell.role == "configuration"
    }
    assert ledgers.keys() == set(names)
    for name, ledger in ledgers.items():
        assert ledger, name
        assert (ledger.received, ledger.complete_trees, ledger.malformed) == (CALLS * DEPTH, CALLS, 0), name
