"""Every agent for Python, Node and Go, as shipped: at 100 calls a second each record arrives, in whole trees."""

from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder

pytestmark = pytest.mark.real
CALLS, DEPTH = 200, 10
AGENTS = {
    "go": ("datadog", "elastic", "opentelemetry"),
    "node": ("datadog", "elastic", "opentelemetry"),
    "python": ("datadog", "elastic", "kieker", "opentelemetry"),
}


@pytest.mark.parametrize("language", AGENTS)
def test_at_a_services_rate_every_record_arrives_in_whole_trees(language: str, tmp_path: Path) -> None:
    agents = AGENTS[language]
    said = ("--workload", f"calltree/{language}", "--agent", ",".join(agents), "--rate", "100/s")
    newer = ("--set", "node=24") if language == "node" else ()
    amount = ("--calls", str(CALLS), "--depth", str(DEPTH), "--blocks", "1", "--out", str(tmp_path / "run"))
    status, printed = tracetax("run", *said, *newer, *amount)
    assert status == 0, printed
    of_agents = {
        record.cell.use.agent: record for record in RunFolder(tmp_path / "run").records() if not record.cell.is_baseline
    }
    assert tuple(sorted(of_agents)) == agents
    for agent, record in of_agents.items():
        assert record.ledger, agent
        arrived = (record.ledger.received, record.ledger.complete_trees, record.ledger.unexpected)
        assert arrived == (CALLS * DEPTH, CALLS, {}), agent
