"""Sets OpenTelemetry up as opentelemetry-instrument does, but with the simple span processor: no variable says so."""

import sys
import traceback

try:
    from opentelemetry.instrumentation.auto_instrumentation import initialize
    from opentelemetry.sdk import _configuration
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    _configuration.BatchSpanProcessor = SimpleSpanProcessor
    initialize()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("OpenTelemetry could not be set up.")
