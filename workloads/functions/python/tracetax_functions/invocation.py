"""One function, chosen by the environment, called by whatever host there is."""

import os
import time
from importlib import import_module
from types import ModuleType
from typing import Any

from tracetax_functions.marks import mark
from tracetax_functions.steps import flush, step

NAMES = ("dynamic-html", "uploader", "thumbnailer", "video-processing", "graph-pagerank")
"""Each is a module of this name, with underscores. It has a ``handle``, and ``NEEDS``: what an event must have."""


class BadEvent(ValueError):
    """An event that is no JSON object, or lacks something."""


def _module(name: str) -> ModuleType:
    """The function of this name. No other is imported."""
    if name not in NAMES:
        raise SystemExit(f"TRACETAX_FUNCTION={name}: there is {', '.join(NAMES)}")
    return import_module(f"tracetax_functions.{name.replace('-', '_')}")


NAME = os.environ.get("TRACETAX_FUNCTION", "")
_function = _module(NAME)
_first = True
mark("imported")


def invoke(event: object) -> dict[str, Any]:
    """Call the function; give its result, and how long it took by its own clock.

    What was recorded is sent after that, where an agent does so at the end of an invocation. Raises BadEvent.
    """
    global _first
    if not isinstance(event, dict):
        raise BadEvent("the event must be a JSON object")
    if lacking := [key for key in _function.NEEDS if key not in event]:
        raise BadEvent(f"the event lacks {', '.join(lacking)}")
    first, _first = _first, False
    if first:
        mark("first-begin")
    begin = time.perf_counter_ns()
    try:
        with step(NAME, event=event):
            result = _function.handle(event)
        inside_ns = time.perf_counter_ns() - begin
    finally:
        flush()
    if first:
        mark("first-end")
    return {"result": result, "inside_ns": inside_ns}
