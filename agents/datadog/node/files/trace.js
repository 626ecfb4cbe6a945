'use strict';

// Required before the program (--require). Starts the tracer, and puts a traced method in the place of the monitored one.
// The tracer reads its own variables. TRACETAX_KEPT is the share of traces that a rule keeps; it discards all others.

const path = require('node:path');
const tracer = require('dd-trace');

const { TRACETAX_CLASS, TRACETAX_KEPT, TRACETAX_METHOD } = process.env;

function start() {
  const samplingRules = TRACETAX_KEPT ? [{ sampleRate: Number(TRACETAX_KEPT), discard: true }] : undefined;
  tracer.init(samplingRules ? { samplingRules } : {});
}

function instrument() {
  const { prototype } = require(path.join(path.dirname(process.argv[1]), 'monitored.js'))[TRACETAX_CLASS];
  const method = prototype[TRACETAX_METHOD];
  if (typeof method !== 'function') {
    throw new Error(`${TRACETAX_CLASS} has no method ${TRACETAX_METHOD}`);
  }
  const resource = `${TRACETAX_CLASS}.${TRACETAX_METHOD}`;
  prototype[TRACETAX_METHOD] = tracer.wrap('calltree', { resource }, method);
}

start();
instrument();
