'use strict';

// Sets Datadog up as its init.js does, but without a span for the wait for a connection: nothing hears of it. No variable
// says so.

const { channel } = require('node:diagnostics_channel');

const waits = ['start', 'finish'].map((moment) => channel(`apm:pg:pool:acquire:${moment}`));
for (const wait of waits) {
  wait.subscribe = () => {};
}
require('dd-trace/init');
module.exports = waits; // they are forgotten where nobody holds them
