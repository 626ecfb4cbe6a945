"""What functions-framework calls for each request."""

import json

import flask
import functions_framework
from tracetax_functions.invocation import BadEvent, invoke

JSON = {"Content-Type": "application/json"}


@functions_framework.http
def handler(request: flask.Request) -> tuple[str, int, dict[str, str]]:
    """Answer with the function's result. What it raises becomes a status of 500."""
    try:
        return json.dumps(invoke(request.get_json(silent=True))), 200, JSON
    except BadEvent as error:
        return json.dumps({"error": str(error)}), 400, JSON
