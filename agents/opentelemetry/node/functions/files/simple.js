'use strict';

// Sets OpenTelemetry up as its register.js does, but with the simple span processor: no variable says so.

const { getNodeAutoInstrumentations } = require('@opentelemetry/auto-instrumentations-node');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { NodeSDK, tracing } = require('@opentelemetry/sdk-node');

const sdk = new NodeSDK({
  instrumentations: getNodeAutoInstrumentations(),
  spanProcessors: [new tracing.SimpleSpanProcessor(new OTLPTraceExporter())],
});
sdk.start();
for (const end of ['SIGTERM', 'beforeExit']) {
  process.once(end, () => sdk.shutdown().catch((error) => console.error(error)));
}
