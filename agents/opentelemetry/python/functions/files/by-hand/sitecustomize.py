"""Sets OpenTelemetry's SDK up as its guide for manual instrumentation does; makes a span of each step of a function."""

import json
import os
import sys
import traceback
from contextlib import AbstractContextManager


def trace_steps() -> None:
    """Give the functions a tracer. The environment says which span processor there is, and whether a flush ends each
    invocation."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
    from tracetax_functions import steps

    provider = TracerProvider()
    processor = SimpleSpanProcessor if os.environ["TRACETAX_SPAN_PROCESSOR"] == "simple" else BatchSpanProcessor
    provider.add_span_processor(processor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    tracer = trace.get_tracer("tracetax.functions")

    def span(name: str, attributes: dict[str, object]) -> AbstractContextManager[object]:
        return tracer.start_as_current_span(name, attributes={key: plain(value) for key, value in attributes.items()})

    steps.trace_by(span)
    if os.environ.get("TRACETAX_FLUSH"):
        steps.flush_by(provider.force_flush)


def plain(value: object) -> str | int:
    """An event as JSON; a span takes numbers and texts as they are."""
    return value if isinstance(value, str | int) else json.dumps(value)


try:
    trace_steps()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("OpenTelemetry could not be set up.")
