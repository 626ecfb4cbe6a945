"""The published schema of findings.json is the one that the code writes by."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tests.analysis.test_findings import findings
from tests.results.trials import blocks
from tracetax.results.findings import findings_schema

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "findings.schema.json"


def test_the_published_schema_is_up_to_date() -> None:
    assert json.loads(PUBLISHED.read_text()) == json.loads(json.dumps(findings_schema())), "run scripts/findings-schema"


def test_findings_conform_to_it(tmp_path: Path) -> None:
    found = json.loads(msgspec.json.encode(findings(tmp_path, blocks(3, spread=2))))
    jsonschema.validate(found, json.loads(PUBLISHED.read_text()))


def test_a_wrong_unit_does_not(tmp_path: Path) -> None:
    found = json.loads(msgspec.json.encode(findings(tmp_path, blocks(3))))
    found["configurations"][0]["measures"][0]["unit"] = "ms"
    with pytest.raises(jsonschema.ValidationError, match="'ms' is not one of"):
        jsonschema.validate(found, json.loads(PUBLISHED.read_text()))
