"""Splunk's distribution of OpenTelemetry: every record at a low rate, and with room for all of them at full speed."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent, verdicts, whole

pytestmark = pytest.mark.real


@pytest.mark.parametrize(("use", "rate", "calls"), [("stock", "300/s", 300), ("lossless", "full", 10_000)])
def test_every_record_arrives_in_a_whole_tree(tmp_path: Path, use: str, rate: str, calls: int) -> None:
    trial = measure_agent(tmp_path, "splunk", [use], calls=calls, rate=rate)[use]
    whole(trial, calls)
    assert verdicts(trial).keys() <= {"deferred"}
