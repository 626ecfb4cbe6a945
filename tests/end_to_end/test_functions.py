"""A trial of functions that come with Tracetax, on each host, with real agents: every result, every record."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import DISTURBANCES, PATIENT
from tests.services.trials import codes, equipped, folder, planned
from tracetax.kinds.functions import FunctionParameters
from tracetax.kinds.requests import Weighted
from tracetax.model import Use
from tracetax.run.trial import run_trial

pytestmark = pytest.mark.real
CALLS = 60
TRIED = [
    ("python", "functions-framework", "uploader", "opentelemetry", "by-hand", 3),
    ("python", "aws-lambda", "dynamic-html", "opentelemetry", "by-hand-simple", 4),
    ("python", "aws-lambda", "uploader", "opentelemetry", "auto", 3),
    ("python", "functions-framework", "video-processing", "elastic", "parity", 4),
    ("python", "functions-framework", "dynamic-html", "datadog", "stock", 11),
    ("node", "functions-framework", "thumbnailer", "opentelemetry", "by-hand-flush", 4),
    ("node", "functions-framework", "uploader", "opentelemetry", "auto", 4),
    ("node", "functions-framework", "uploader", "elastic", "parity", 3),
    ("node", "functions-framework", "thumbnailer", "datadog", "no-connections", 17),
]


@pytest.mark.parametrize(("language", "host", "function", "agent", "configuration", "spans"), TRIED)
def test_a_function_does_its_work_and_delivers_every_record(
    tmp_path: Path, language: str, host: str, function: str, agent: str, configuration: str, spans: int
) -> None:
    use = Use(agent, configuration)
    mix = (Weighted(function, 1),)
    parameters = FunctionParameters(calls=CALLS, rate=10.0, mix=mix, connections=2, host=host)
    equipment, part = equipped(ROOT, f"functions/{language}", use, parameters)
    plan = planned(part, use, equipment.configuration(use.agent, use.configuration))
    run = folder(tmp_path / "run", part, equipment)
    record = run_trial(plan, replace(equipment, limits=PATIENT), run, lambda _: None)
    assert (record.status, codes(record) - DISTURBANCES) == ("ok", set()), record.verdicts
    assert record.ledger
    assert (record.ledger.expected, record.ledger.received) == (CALLS * spans, CALLS * spans)
    assert record.inside
    assert record.response
    assert 0 < record.inside.mean < record.response.mean
