'use strict';

const { readFileSync } = require('node:fs');

const READS = 200_000;
const LONGEST_NS = 1 << 16;
const NOTEWORTHY = 0.01;
const ROUNDED = 2;

/** CLOCK_MONOTONIC, ns: a whole number, exact for the first 104 days of a machine's uptime. */
function now() {
  const time = process.hrtime();
  return time[0] * 1e9 + time[1];
}

const nobody = new Int32Array(new SharedArrayBuffer(4));

/**
 * CPU time of the main thread so far, ns: its own clock where Node has it, else the scheduler's account. That is brought up
 * to date where the thread leaves its core, so it sleeps for a moment before.
 */
function threadCpuNs() {
  if (process.threadCpuUsage) {
    const { user, system } = process.threadCpuUsage();
    return (user + system) * 1000;
  }
  Atomics.wait(nobody, 0, 0, 0.02);
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'ascii').split(' ')[0]);
}

/** CPU time of the process so far, ns. */
function processCpuNs() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** Measures the clock twice, once to get warm: the tick, and the mean time of one read, ns. */
function measureClock() {
  readClock();
  const { differences, readNs } = readClock();
  return { resolution_ns: tick(differences, READS), read_ns: readNs };
}

function readClock() {
  const differences = new Int32Array(LONGEST_NS);
  const first = now();
  let previous = first;
  for (let i = 0; i < READS; i++) {
    const moment = now();
    if (moment - previous < LONGEST_NS) {
      differences[moment - previous]++;
    }
    previous = moment;
  }
  return { differences, readNs: (previous - first) / READS };
}

/**
 * The smallest step between differences that occur, ns.
 *
 * Two neighbouring values count as one: the conversion from cycles rounds. Three in a row cannot come of that, so the
 * clock tells nanoseconds apart. Rare values do not count. A step that does not divide the differences is none.
 */
function tick(differences, reads) {
  const means = [];
  for (let value = 0; value < differences.length; value++) {
    const first = value;
    let count = 0;
    let sum = 0;
    for (; value < differences.length && differences[value] > (reads * NOTEWORTHY) / 10; value++) {
      count += differences[value];
      sum += value * differences[value];
    }
    if (count < reads * NOTEWORTHY) {
      continue;
    }
    if (value - first > 2) {
      return 1;
    }
    means.push(sum / count);
  }
  const smallest = Math.min(...means.slice(1).map((mean, i) => mean - means[i]));
  if (smallest === Infinity) {
    return 1;
  }
  if (means.some((mean) => Math.abs(mean - Math.round(mean / smallest) * smallest) > ROUNDED)) {
    return 1;
  }
  return Math.round(smallest);
}

module.exports = { measureClock, now, processCpuNs, threadCpuNs };
