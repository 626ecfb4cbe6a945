"""Starts Datadog's tracer and traces one method, before the program begins."""

import os
import sys
import traceback
from importlib import import_module


def trace_method() -> None:
    """Put the tracer's decorator on the method that the environment names."""
    import ddtrace.auto  # noqa: F401
    from ddtrace.trace import tracer

    module, _, name = os.environ["TRACETAX_CLASS"].rpartition(".")
    method = os.environ["TRACETAX_METHOD"]
    monitored = getattr(import_module(module), name)
    setattr(monitored, method, tracer.wrap(resource=f"{name}.{method}")(getattr(monitored, method)))


try:
    trace_method()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("Datadog's tracer could not be set up.")
