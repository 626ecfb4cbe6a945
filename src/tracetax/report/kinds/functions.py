"""How functions are told."""

from tracetax.kinds.functions import FunctionParameters, invoked_words

SPEED = ("rate", "calls", "arrivals", "connections")
TIME = ("ms", 1e6)


def called(parameters: FunctionParameters) -> str:
    """How a function was invoked: ``dynamic-html by functions-framework, at 20 invocations/s``."""
    cold = "cold starts of " if parameters.cold else ""
    return f"{cold}{parameters.function} {invoked_words(parameters)}"
