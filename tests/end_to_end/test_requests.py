"""A trial of each service that comes with Tracetax, on a PostgreSQL of its own: every endpoint, every record."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import DISTURBANCES, PATIENT
from tests.services.trials import codes, equipped, folder, planned
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.model import BASELINE, Use
from tracetax.run.trial import run_trial

pytestmark = pytest.mark.real
QUERIES = 3
EACH = 50
MIX = tuple(Weighted(endpoint, 1) for endpoint in ("json", "plaintext", "db", "queries", "updates"))
PARAMETERS = RequestParameters(calls=len(MIX) * EACH, rate=50.0, mix=MIX, queries=QUERIES, connections=8)
SPANS = 1 + 1 + 3 + (2 + QUERIES) + (4 + 2 * QUERIES)
"""Of one request to each endpoint: itself, the wait for a connection, and each statement, BEGIN and COMMIT too."""
SENT = Use("opentelemetry", "otlp")


@pytest.mark.parametrize(("language", "use"), [("go", SENT), ("java", BASELINE), ("node", SENT), ("python", BASELINE)])
def test_a_service_answers_every_request_and_delivers_every_record(tmp_path: Path, language: str, use: Use) -> None:
    equipment, part = equipped(ROOT, f"requests/{language}", use, PARAMETERS)
    plan = planned(part, use, equipment.configuration(use.agent, use.configuration))
    run = folder(tmp_path / "run", part, equipment)
    record = run_trial(plan, replace(equipment, limits=PATIENT), run, lambda _: None)
    assert (record.status, codes(record) - DISTURBANCES) == ("ok", set()), record.verdicts
    assert record.ledger
    due = EACH * SPANS if use == SENT else 0
    assert (record.ledger.expected, record.ledger.received) == (due, due)
    assert record.response
    assert record.cpu
    assert record.cpu.to_last_call.total > 0
