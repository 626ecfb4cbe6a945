"""Sets OpenTelemetry up with the simple span processor, and traces one method, before the program begins."""

import os
import sys
import traceback
from importlib import import_module


def trace_method() -> None:
    """Put the decorator of a tracer on the method that the environment names."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
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
