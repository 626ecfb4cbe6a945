'use strict';

const { appendFileSync } = require('node:fs');

/** Appends a line to the file that the environment names: a moment of a cold start, by CLOCK_MONOTONIC in nanoseconds. */
function mark(name) {
  const place = process.env.TRACETAX_MARKS;
  if (place) {
    appendFileSync(place, `${name} ${process.hrtime.bigint()}\n`);
  }
}

module.exports = { mark };
