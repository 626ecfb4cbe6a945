'use strict';

const { now } = require('./clock.js');

/** Calls in one go, after which the event loop gets a turn: an exporter lives in it, and so does the input. */
const CHUNK = 16;

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Places for `calls` samples, touched before the first call; at a rate with the schedule of intended starts after the
 * first one. All ns.
 */
function newSamples(calls, options, rate) {
  const touched = () => new Float64Array(calls).fill(-1);
  if (!options.paced) {
    return { durations: touched() };
  }
  const starts = new Float64Array(calls).map((_, k) => Math.round((k * 1e9) / rate));
  return { durations: touched(), starts, lateness: touched() };
}

/** Turns the event loop until the time has come, without sleeping: it stays on its core and keeps it warm. */
async function spin(intendedNs) {
  while (now() < intendedNs) {
    await turn();
  }
}

/** Sleeps until the time has come, and again for whatever remains; a timer's step is 1 ms, so calls start up to that late. */
async function park(intendedNs) {
  for (let left = intendedNs - now(); left > 0; left = intendedNs - now()) {
    await new Promise((resolve) => setTimeout(resolve, left / 1e6));
  }
}

/** Makes the calls; warm-up and measured calls take the same way. */
class Loop {
  constructor(monitored, options, stop) {
    this.monitored = monitored;
    this.options = options;
    this.stop = stop;
    this.until = options.wait === 'spin' ? spin : park;
    /** Of everything the calls returned: kept, so that no compiler may leave a call out. */
    this.sum = 0;
  }

  /** Makes the first `calls` calls of `into`; ends early, after a chunk, when stopped. */
  async run(into, calls, epochNs) {
    for (let from = 0; from < calls && !this.stop.requested; ) {
      const to = Math.min(from + CHUNK, calls);
      if (this.options.paced) {
        await this.until(epochNs + into.starts[from]);
        from = this.pacedChunk(into, from, to, epochNs);
      } else {
        this.closedChunk(into, from, to);
        from = to;
      }
      await turn();
    }
  }

  /** Calls back to back. */
  closedChunk(into, from, to) {
    const { durations } = into;
    const { methodTimeNs, depth } = this.options;
    for (let i = from; i < to; i++) {
      const start = now();
      this.sum += this.monitored.monitoredMethod(methodTimeNs, depth);
      durations[i] = now() - start;
    }
  }

  /**
   * Calls whose time has come: a late call starts at once, none is left out, and the schedule stays as it was. Returns the
   * next call's number.
   */
  pacedChunk(into, from, to, epochNs) {
    const { durations, starts, lateness } = into;
    const { methodTimeNs, depth } = this.options;
    let i = from;
    for (; i < to; i++) {
      const intended = epochNs + starts[i];
      const start = now();
      if (start < intended) {
        break;
      }
      this.sum += this.monitored.monitoredMethod(methodTimeNs, depth);
      durations[i] = now() - start;
      lateness[i] = start - intended;
    }
    return i;
  }
}

module.exports = { Loop, newSamples, spin };
