'use strict';

// Required before the program (--require). Starts the SDK as its guide for Node does, and puts a traced method in the
// place of the monitored one. The SDK reads its own variables; what none of them says, TRACETAX_PROCESSOR does.

const path = require('node:path');
const { trace } = require('@opentelemetry/api');
const { NodeSDK, tracing } = require('@opentelemetry/sdk-node');

const { TRACETAX_CLASS, TRACETAX_METHOD, TRACETAX_PROCESSOR = 'batch' } = process.env;

/** Processors that no variable of the SDK offers: one request per span, or none at all. */
const PROCESSORS = {
  batch: () => undefined,
  simple: () => {
    const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
    return [new tracing.SimpleSpanProcessor(new OTLPTraceExporter())];
  },
  none: () => [new tracing.NoopSpanProcessor()],
};

function start() {
  const spanProcessors = PROCESSORS[TRACETAX_PROCESSOR]();
  const sdk = new NodeSDK(spanProcessors ? { spanProcessors } : {});
  sdk.start();
  process.once('beforeExit', () => sdk.shutdown().catch((error) => console.error('shutdown:', error)));
}

function instrument() {
  const { prototype } = require(path.join(path.dirname(process.argv[1]), 'monitored.js'))[TRACETAX_CLASS];
  const method = prototype[TRACETAX_METHOD];
  if (typeof method !== 'function') {
    throw new Error(`${TRACETAX_CLASS} has no method ${TRACETAX_METHOD}`);
  }
  const name = `${TRACETAX_CLASS}.${TRACETAX_METHOD}`;
  const tracer = trace.getTracer('tracetax');
  prototype[TRACETAX_METHOD] = function (...args) {
    return tracer.startActiveSpan(name, (span) => {
      try {
        return method.apply(this, args);
      } finally {
        span.end();
      }
    });
  };
}

start();
instrument();
