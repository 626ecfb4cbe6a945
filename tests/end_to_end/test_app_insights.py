"""Application Insights: every record at a low rate, and what it samples as shipped."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import PATIENT, measure_each, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 300
BRIEF = replace(PATIENT, warm_up=3.0)
"""What is counted does not depend on how warm it is."""
EXPERIMENT = f"""
title = "Application Insights at a low rate"
workload = "calltree/java"
result = false
[parameters]
depth = 10
rate = "100/s"
calls = {CALLS}
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "app-insights"
use = ["stock", "sampled"]
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "5min"
memory = false
"""


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    folder: Path = tmp_path_factory.mktemp("insights")
    file = folder / "insights.toml"
    file.write_text(EXPERIMENT)
    return measure_each(file, ROOT, folder / "run", BRIEF)


def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["stock"].ledger
    assert ledger
    assert ledger.expected == ledger.received == 10 * CALLS
    assert ledger.complete_trees == ledger.expected_trees == CALLS
    assert ledger.malformed == ledger.duplicates == ledger.orphans == ledger.unexpected_names == 0
    assert verdicts(trials["stock"]) == {}


def test_as_shipped_it_keeps_a_few_calls_whole(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["sampled"].ledger
    assert ledger
    assert (ledger.expected, ledger.missing) == (0, 0)
    assert 0 < ledger.received == 10 * ledger.complete_trees < 10 * CALLS
