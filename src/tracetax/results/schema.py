"""The JSON schema of ``findings.json``, as published in ``docs/findings.schema.json``."""

from inspect import cleandoc
from typing import Any, cast

import msgspec

from tracetax.results.findings import SCHEMA_VERSION, Findings


def findings_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) of the findings that this version writes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Tracetax findings, version {SCHEMA_VERSION}",
        **_without_indents(msgspec.json.schema(Findings)),
    }


def _without_indents(schema: Any) -> Any:
    """The schema with descriptions as Python 3.13 gives them: before, docstrings kept the indents of their lines."""
    if isinstance(schema, list):
        return [_without_indents(each) for each in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        key: cleandoc(value) if key == "description" and isinstance(value, str) else _without_indents(value)
        for key, value in cast(dict[str, Any], schema).items()
    }
