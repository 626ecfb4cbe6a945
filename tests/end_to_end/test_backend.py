"""A real agent's records at a real backend in the sink's place: as many as at the sink."""

from pathlib import Path

import pytest

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import BRIEF, measure_each, verdicts

EXPERIMENT = """
title = "Zipkin's server in the sink's place"
workload = "calltree/java"
parameters = { calls = 300, depth = 10, rate = "200/s", wait = "park" }
jvm = { heap = "512 MiB" }
configurations = [{ agent = "opentelemetry", use = ["zipkin"] }]
"""


@pytest.mark.real
@pytest.mark.slow
def test_a_real_backend_counts_what_the_sink_counts(tmp_path: Path) -> None:
    file = tmp_path / "backend.toml"
    file.write_text(EXPERIMENT)
    records = measure_each(file, ROOT, tmp_path / "run", BRIEF, backends=("zipkin-server",))
    assert list(records) == ["zipkin", "zipkin → zipkin-server"]
    for record in records.values():
        assert verdicts(record) == {}
        assert record.ledger and record.warm_up
        assert record.ledger.received == record.ledger.expected == 3_000
        assert record.warm_up.ledger.missing == 0
        assert record.receiver_cpu_ns > 0
    sink, backend = (record.ledger for record in records.values())
    assert sink and backend
    assert (sink.complete_trees, backend.expected_trees) == (300, 0)
