"""The JSON schema of ``findings.json``, as published in ``docs/findings.schema.json``."""

from typing import Any

import msgspec

from tracetax.results.findings import SCHEMA_VERSION, Findings


def findings_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) of the findings that this version writes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Tracetax findings, version {SCHEMA_VERSION}",
        **msgspec.json.schema(Findings),
    }
