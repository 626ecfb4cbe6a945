'use strict';

const { now } = require('./clock.js');
const { Commands, StatusLog } = require('./control.js');
const { Wrong, parse } = require('./options.js');
const { Trial, snapshot } = require('./trial.js');

/** Makes calls as standard input commands, until it ends; leaves samples and trial.json. Node then ends by itself. */
async function main() {
  const beginNs = now();
  const options = parse(process.argv.slice(2));
  const status = new StatusLog(options.status);
  status.event('main', '', beginNs);
  try {
    await run(options, status);
  } catch (error) {
    status.event('error', String(error));
    throw error;
  } finally {
    status.close();
  }
}

async function run(options, status) {
  const begin = snapshot();
  const stop = { requested: false };
  const commands = new Commands(stop);
  const trial = new Trial(options, status, stop, begin);
  for (let line = await commands.next(); line !== null; line = await commands.next()) {
    await obey(trial, line);
  }
}

async function obey(trial, line) {
  const burst = /^warm-up +([1-9][0-9]{0,14})$/.exec(line);
  if (burst) {
    await trial.warmUp(Number(burst[1]));
  } else if (line === 'measure') {
    await trial.measure();
  } else if (line === 'drained') {
    trial.drained();
  } else {
    throw new Wrong(`command '${line}': not one of 'warm-up N', 'measure', 'drained'`);
  }
}

main().catch((error) => {
  console.error(error instanceof Wrong ? `calltree: ${error.message}` : error);
  process.exitCode = 1;
  process.stdin.destroy();
});
