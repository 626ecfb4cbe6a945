"""A trial of each service that comes with Tracetax, on a PostgreSQL of its own: every endpoint, every record."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import DISTURBANCES, PATIENT
from tests.services.trials import codes, equipped, folder, planned
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.model import Use
from tracetax.run.trial import run_trial

pytestmark = pytest.mark.real
QUERIES = 3
EACH = 50
MIX = tuple(Weighted(endpoint, 1) for endpoint in ("json", "plaintext", "db", "queries", "updates"))
PARAMETERS = RequestParameters(calls=len(MIX) * EACH, rate=50.0, mix=MIX, queries=QUERIES, connections=8)
SPANS = {"parity": 17, "pool": 20, "driver": 15, "flask": 63}
"""Of one request to each endpoint: itself and each statement, BEGIN and COMMIT too; with the wait for a connection;
where the driver sends BEGIN and COMMIT; and with what Flask does meanwhile."""
TRIED = [
    ("go", "elastic", "parity", SPANS["parity"]),
    ("go", "datadog", "parity", SPANS["parity"]),
    ("java", "opentelemetry", "otlp", SPANS["driver"]),
    ("node", "opentelemetry", "otlp", SPANS["pool"]),
    ("python", "opentelemetry", "otlp-grpc", SPANS["driver"]),
    ("python", "datadog", "stock", SPANS["flask"]),
    ("python", "datadog", "parity", SPANS["driver"]),
]


@pytest.mark.parametrize(("language", "agent", "configuration", "spans"), TRIED)
def test_a_service_answers_every_request_and_delivers_every_record(
    tmp_path: Path, language: str, agent: str, configuration: str, spans: int
) -> None:
    use = Use(agent, configuration)
    equipment, part = equipped(ROOT, f"requests/{language}", use, PARAMETERS)
    plan = planned(part, use, equipment.configuration(use.agent, use.configuration))
    run = folder(tmp_path / "run", part, equipment)
    record = run_trial(plan, replace(equipment, limits=PATIENT), run, lambda _: None)
    assert (record.status, codes(record) - DISTURBANCES) == ("ok", set()), record.verdicts
    assert record.ledger
    assert (record.ledger.expected, record.ledger.received) == (EACH * spans, EACH * spans)
    assert record.response
    assert record.cpu
    assert record.cpu.to_last_call.total > 0
