'use strict';

/**
 * The steps of a function. Who traces by hand makes a span of each: `traceBy` says how. Without that they cost a call.
 */
let trace = (_name, _attributes, work) => work();
let flushing = () => undefined;

/** Makes spans of all steps from now on: `span(name, attributes, work)` gives what `work()` gives. */
function traceBy(span) {
  trace = span;
}

/** Has this called at the end of every invocation, before it is answered. */
function flushBy(flush) {
  flushing = flush;
}

/** Does a step of a function, which may be asynchronous. */
function step(name, attributes, work) {
  return trace(name, attributes, work);
}

/** Sends what was recorded, where somebody has asked for that. */
function flush() {
  return flushing();
}

module.exports = { flush, flushBy, step, traceBy };
