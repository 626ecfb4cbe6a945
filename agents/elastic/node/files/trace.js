'use strict';

// Required before the program (--require). Starts the agent, and puts a traced method in the place of the monitored one.
// The agent reads its own variables. It ends its stream by itself in beforeExit: a flush() of ours would be one too many.

const path = require('node:path');
const agent = require('elastic-apm-node').start();

const { TRACETAX_CLASS, TRACETAX_METHOD } = process.env;

/** The outermost invocation becomes a transaction, those inside it become its spans. */
function instrument() {
  const { prototype } = require(path.join(path.dirname(process.argv[1]), 'monitored.js'))[TRACETAX_CLASS];
  const method = prototype[TRACETAX_METHOD];
  if (typeof method !== 'function') {
    throw new Error(`${TRACETAX_CLASS} has no method ${TRACETAX_METHOD}`);
  }
  const name = `${TRACETAX_CLASS}.${TRACETAX_METHOD}`;
  prototype[TRACETAX_METHOD] = function (...args) {
    // neither is there where the agent is switched off; an unsampled transaction has no spans
    const event = agent.currentTransaction ? agent.startSpan(name, 'custom') : agent.startTransaction(name, 'custom');
    try {
      return method.apply(this, args);
    } finally {
      event?.end();
    }
  };
}

instrument();
