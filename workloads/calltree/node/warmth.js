'use strict';

const WINDOW_CALLS = 500;
const NOTEWORTHY = 0.05;
const QUIET_WINDOWS = 3;
const TOP_TIER = 4;

/**
 * Watches the durations of warm-up calls. Calls are steady when three windows of 500 calls in a row had no median that was
 * 5 % below the lowest one before. Slower windows do not count against it: noise on a shared machine makes calls slower,
 * warming up makes them faster.
 */
class Warmth {
  how = 'steady-call-time';
  #window = [];
  #lowest = Infinity;
  #quiet = -1;

  /** Takes the next call's duration into account. */
  add(durationNs) {
    this.#window.push(durationNs);
    if (this.#window.length < WINDOW_CALLS) {
      return;
    }
    const middle = this.#window.sort((a, b) => a - b)[WINDOW_CALLS / 2];
    this.#window = [];
    this.#quiet = middle > this.#lowest * (1 - NOTEWORTHY) ? this.#quiet + 1 : 0;
    this.#lowest = Math.min(this.#lowest, middle);
  }

  /** What is reported as a compiler's highest tier once calls are steady; 0 before. */
  get level() {
    return this.#quiet >= QUIET_WINDOWS ? TOP_TIER : 0;
  }
}

module.exports = { Warmth };
