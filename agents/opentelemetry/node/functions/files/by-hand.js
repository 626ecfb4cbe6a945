'use strict';

// Sets OpenTelemetry's SDK up as its guide for manual instrumentation does, and makes a span of each step of a function.
// The environment says which span processor there is, and whether a flush ends each invocation.

const { SpanStatusCode, trace } = require('@opentelemetry/api');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { BatchSpanProcessor, NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');

const { TRACETAX_FLUSH, TRACETAX_SPAN_PROCESSOR, TRACETAX_STEPS } = process.env;
const { flushBy, traceBy } = require(TRACETAX_STEPS);

const Processor = TRACETAX_SPAN_PROCESSOR === 'simple' ? SimpleSpanProcessor : BatchSpanProcessor;
const provider = new NodeTracerProvider({ spanProcessors: [new Processor(new OTLPTraceExporter())] });
provider.register();
const tracer = trace.getTracer('tracetax.functions');

traceBy((name, attributes, work) =>
  tracer.startActiveSpan(name, { attributes: plain(attributes) }, (span) => {
    let result;
    try {
      result = work();
    } catch (error) {
      failed(span, error);
      throw error;
    }
    if (!(result instanceof Promise)) {
      span.end();
      return result;
    }
    return result.then(
      (value) => {
        span.end();
        return value;
      },
      (error) => {
        failed(span, error);
        throw error;
      },
    );
  }),
);
if (TRACETAX_FLUSH) {
  flushBy(() => provider.forceFlush());
}
process.once('SIGTERM', () => provider.shutdown().catch((error) => console.error(error)));

function failed(span, error) {
  span.recordException(error);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** An event as JSON; a span takes numbers and texts as they are. */
function plain(attributes) {
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'object' ? JSON.stringify(value) : value]),
  );
}
