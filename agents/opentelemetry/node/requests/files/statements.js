'use strict';

// Sets OpenTelemetry up as its register.js does, but without a span for the wait for a connection: no variable says so.

const { getNodeAutoInstrumentations } = require('@opentelemetry/auto-instrumentations-node');
const { NodeSDK } = require('@opentelemetry/sdk-node');

const sdk = new NodeSDK({
  instrumentations: getNodeAutoInstrumentations({ '@opentelemetry/instrumentation-pg': { ignoreConnectSpans: true } }),
});
sdk.start();
for (const end of ['SIGTERM', 'beforeExit']) {
  process.once(end, () => sdk.shutdown().catch((error) => console.error(error)));
}
