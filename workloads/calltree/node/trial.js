'use strict';

const fs = require('node:fs');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { measureClock, now, processCpuNs, threadCpuNs } = require('./clock.js');
const { Loop, newSamples, spin } = require('./loops.js');
const { Monitored } = require('./monitored.js');
const { Warmth } = require('./warmth.js');

/** From the command to the first intended start. */
const HEAD_START_NS = 2_000_000;

/** Time before the first intended start that reading the counters gets. */
const LEAD_NS = 600_000;

/** Warm-up calls per entry into the loop, as many as there are places for their samples. */
const WARM_UP_CALLS = 32;

/** Paced warm-up keeps at least this rate: waiting is exercised, and yet it is over soon. */
const LEAST_WARM_UP_RATE = 20_000;

/** What only the program itself can see, at one moment. */
function snapshot() {
  return { monotonic_ns: now(), process_cpu_ns: processCpuNs(), heap_used_bytes: process.memoryUsage().heapUsed };
}

/** One trial, command by command: warm-up, measured calls, drained. */
class Trial {
  /** Everything that the measured calls need is in place when this returns. */
  constructor(options, status, stop, begin) {
    this.options = options;
    this.status = status;
    this.stop = stop;
    this.loop = new Loop(new Monitored(), options, stop);
    this.samples = newSamples(options.calls, options, options.rate);
    this.warmUpRate = Math.max(options.rate, LEAST_WARM_UP_RATE);
    this.scratch = newSamples(WARM_UP_CALLS, options, this.warmUpRate);
    this.warmth = new Warmth();
    this.snapshots = { main: begin };
    this.counters = { thread: 0, calls: options.calls };
    this.calls = 0;
    this.bursts = 0;
    this.measured = false;
    status.event('ready');
  }

  /** Makes a burst of warm-up calls; the very first call is made by itself and told, for agents set themselves up in it. */
  async warmUp(calls) {
    let left = calls;
    if (this.calls === 0) {
      await this.burst(1);
      this.status.event('first-monitored', '', this.counters.last_ns);
      left--;
    }
    if (left > 0) {
      await this.burst(left);
    }
    if (this.stop.requested) {
      return;
    }
    this.calls += calls;
    this.bursts++;
    const { level, how } = this.warmth;
    this.status.event('warmed', `calls=${this.calls} driver=${level} method=${level} how=${how}`);
  }

  async burst(calls) {
    const pieceNs = this.options.paced ? (WARM_UP_CALLS * 1e9) / this.warmUpRate : 0;
    await this.counted(async (epochNs) => {
      for (let piece = 0; piece * WARM_UP_CALLS < calls && !this.stop.requested; piece++) {
        const count = Math.min(calls - piece * WARM_UP_CALLS, WARM_UP_CALLS);
        await this.loop.run(this.scratch, count, epochNs + Math.round(piece * pieceNs));
        this.scratch.durations.subarray(0, count).forEach((duration) => this.warmth.add(duration));
      }
    });
  }

  /** Makes calls between two looks at the counters. */
  async counted(calls) {
    const epochNs = now() + HEAD_START_NS;
    await spin(epochNs - LEAD_NS);
    const cpuNs = threadCpuNs();
    this.counters.first_ns = now();
    await calls(epochNs);
    this.counters.last_ns = now();
    this.counters.cpu_ns = threadCpuNs() - cpuNs;
  }

  /** Makes the measured calls. */
  async measure() {
    if (this.measured) {
      throw new Error('measure: the measured calls are already made');
    }
    const first = snapshot();
    this.status.event('first-call', '', first.monotonic_ns);
    await this.counted((epochNs) => this.loop.run(this.samples, this.options.calls, epochNs));
    if (this.stop.requested) {
      return;
    }
    const last = snapshot();
    this.status.event('last-call', '', last.monotonic_ns);
    Object.assign(this.snapshots, { first_call: first, last_call: last });
    this.measured = true;
  }

  /** Takes the last snapshots and writes everything. */
  drained() {
    if (!this.measured) {
      throw new Error('drained: nothing has been measured');
    }
    const drained = snapshot();
    this.status.event('drained', '', drained.monotonic_ns);
    this.snapshots.drained = drained;
    v8.setFlagsFromString('--expose-gc');
    vm.runInNewContext('gc')();
    this.snapshots.collected = snapshot();
    this.write();
    this.status.event('written');
  }

  write() {
    const { calls, depth, out, paced, threads } = this.options;
    fs.mkdirSync(out, { recursive: true });
    const files = { samples: [], start: [], late: [] };
    const { durations, starts, lateness } = this.samples;
    const kept = paced ? { samples: durations, start: starts, late: lateness } : { samples: durations };
    for (const [kind, values] of Object.entries(kept)) {
      files[kind].push(`${kind}-0.i64`);
      fs.writeFileSync(path.join(out, `${kind}-0.i64`), BigInt64Array.from(values, BigInt));
    }
    const { level, how } = this.warmth;
    const trial = {
      format: 1,
      workload: 'calltree/node',
      files,
      threads,
      calls,
      invocations: calls * depth,
      warm_up: { calls: this.calls, bursts: this.bursts, driver_level: level, method_level: level, how },
      clock: measureClock(),
      snapshots: this.snapshots,
      caller: [this.counters],
      versions: { 'node.version': process.versions.node, 'v8.version': process.versions.v8 },
      vm_flags: process.execArgv.join(' '),
    };
    writeWhole(path.join(out, 'trial.json'), JSON.stringify(trial) + '\n');
  }
}

/** Writes a text so that it is there whole or not at all, whatever happens. */
function writeWhole(file, text) {
  fs.writeFileSync(`${file}.tmp`, text, { flush: true });
  fs.renameSync(`${file}.tmp`, file);
  const folder = fs.openSync(path.dirname(file), 'r');
  fs.fsyncSync(folder);
  fs.closeSync(folder);
}

module.exports = { Trial, snapshot };
