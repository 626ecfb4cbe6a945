"""How the kind that only tests know is told."""

from typing import Any

SPEED = ("rate", "calls")
TIME = ("ns", 1.0)


def called(parameters: Any) -> str:
    """How calls were issued."""
    return f"small and large calls, at {parameters.rate}"
