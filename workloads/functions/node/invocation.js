'use strict';

const { mark } = require('./marks.js');
const { flush, step } = require('./steps.js');

/** Each is a module of this name in `functions`. It gives `handle`, and `NEEDS`: what an event must have. */
const NAMES = ['dynamic-html', 'uploader', 'thumbnailer', 'video-processing', 'graph-pagerank'];

/** An event that is no JSON object, or lacks something. */
class BadEvent extends Error {}

/** The function that the environment names. No other is loaded. */
function functionOf(name) {
  if (!NAMES.includes(name)) {
    console.error(`TRACETAX_FUNCTION=${name}: there is ${NAMES.join(', ')}`);
    process.exit(1);
  }
  return require(`./functions/${name}.js`);
}

const name = process.env.TRACETAX_FUNCTION ?? '';
const { NEEDS, handle } = functionOf(name);
let first = true;
mark('imported');

/**
 * Calls the function; gives its result, and how long it took by its own clock. What was recorded is sent after that,
 * where an agent does so at the end of an invocation. Throws BadEvent.
 */
async function invoke(event) {
  if (event === null || typeof event !== 'object' || Array.isArray(event)) {
    throw new BadEvent('the event must be a JSON object');
  }
  const lacking = NEEDS.filter((key) => !Object.hasOwn(event, key));
  if (lacking.length > 0) {
    throw new BadEvent(`the event lacks ${lacking.join(', ')}`);
  }
  const isFirst = first;
  first = false;
  if (isFirst) {
    mark('first-begin');
  }
  const begin = process.hrtime.bigint();
  let result, insideNs;
  try {
    result = await step(name, { event }, () => handle(event));
    insideNs = Number(process.hrtime.bigint() - begin);
  } finally {
    await flush();
  }
  if (isFirst) {
    mark('first-end');
  }
  return { result, inside_ns: insideNs };
}

module.exports = { BadEvent, invoke };
