"""Sets OpenTelemetry up as its distribution does, and traces one method, before the program begins."""

import os
import sys
import traceback
from importlib import import_module


def trace_method() -> None:
    """Put the decorator of a tracer on the method that the environment names."""
    from opentelemetry import trace
    from opentelemetry.instrumentation.auto_instrumentation import initialize

    initialize(swallow_exceptions=False)
    module, _, name = os.environ["TRACETAX_CLASS"].rpartition(".")
    method = os.environ["TRACETAX_METHOD"]
    monitored = getattr(import_module(module), name)
    span = trace.get_tracer("tracetax").start_as_current_span(f"{name}.{method}")
    setattr(monitored, method, span(getattr(monitored, method)))


try:
    trace_method()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("OpenTelemetry could not be set up.")
