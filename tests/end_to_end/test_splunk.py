"""Splunk's distribution of OpenTelemetry: every record at a low rate, and with room for all of them at full speed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import PATIENT, measure_each, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
BRIEF = replace(PATIENT, warm_up=3.0)
"""What is counted does not depend on how warm it is."""
EXPERIMENT = """
title = "Splunk"
workload = "calltree/java"
result = false
[parameters]
depth = 10
rate = {rate}
calls = {calls}
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "splunk"
use = ["{use}"]
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "5min"
memory = false
"""


@pytest.mark.parametrize(("use", "rate", "calls"), [("stock", '"300/s"', 300), ("lossless", '"full"', 10_000)])
def test_every_record_arrives_in_a_whole_tree(tmp_path: Path, use: str, rate: str, calls: int) -> None:
    file = tmp_path / "splunk.toml"
    file.write_text(EXPERIMENT.format(use=use, rate=rate, calls=calls))
    trial: TrialRecord = measure_each(file, ROOT, tmp_path / "run", BRIEF)[use]
    ledger = trial.ledger
    assert ledger
    assert ledger.expected == ledger.received == 10 * calls
    assert ledger.complete_trees == ledger.expected_trees == calls
    assert ledger.malformed == ledger.duplicates == ledger.orphans == ledger.unexpected_names == 0
    assert verdicts(trial).keys() <= {"deferred"}
