"""What AWS's runtime interface client calls for each invocation."""

from typing import Any

from tracetax_functions.invocation import invoke


def lambda_handler(event: object, _context: object) -> dict[str, Any]:
    """Give the function's result. What it raises becomes an error of the invocation."""
    return invoke(event)
