"""Sets OpenTelemetry up as MooBench's Python benchmark does, and traces one method, before the program begins."""

import os
import sys
import traceback
from importlib import import_module
from typing import Any


def trace_method() -> None:
    """Put a span around the method that the environment names."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource(attributes={"service.name": "moobench-python"}))
    if os.environ["OTEL_TRACES_EXPORTER"] == "zipkin":
        from opentelemetry.exporter.zipkin.json import ZipkinExporter

        exporter = ZipkinExporter(endpoint=os.environ["OTEL_EXPORTER_ZIPKIN_ENDPOINT"])
        provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    tracer = trace.get_tracer("moobench.benchmark")
    module, _, name = os.environ["TRACETAX_CLASS"].rpartition(".")
    method = os.environ["TRACETAX_METHOD"]
    monitored = getattr(import_module(module), name)
    untraced = getattr(monitored, method)

    def traced(self: Any, method_time_ns: int, depth: int) -> int:
        with tracer.start_as_current_span("monitored_method"):
            return untraced(self, method_time_ns, depth)

    setattr(monitored, method, traced)


try:
    trace_method()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("OpenTelemetry could not be set up.")
