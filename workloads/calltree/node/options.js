'use strict';

const USAGE =
  'usage: --calls N --depth D --method-time-ns NS --threads 1 --rate full|CALLS_PER_SECOND' +
  ' --wait spin|park --out DIR --status FILE';
const LONGEST_ARRAY = 2 ** 31 - 1;

/** What was wrong with options or commands: said without a stack trace. */
class Wrong extends Error {}

/**
 * Reads options given as name and value in turn.
 *
 * `rate` is in calls per second, infinite for a closed loop. Throws Wrong if one is unknown, missing or has no sense.
 */
function parse(words) {
  const given = new Map();
  for (let i = 0; i < words.length; i += 2) {
    if (i + 1 === words.length) {
      throw wrong(`option ${words[i]} has no value`);
    }
    given.set(words[i], words[i + 1]);
  }
  const options = {
    calls: whole(given, '--calls', undefined, 1, LONGEST_ARRAY),
    depth: whole(given, '--depth', undefined, 1, LONGEST_ARRAY),
    methodTimeNs: whole(given, '--method-time-ns', '0', 0, Number.MAX_SAFE_INTEGER),
    threads: threads(given),
    rate: rate(take(given, '--rate', 'full')),
    wait: wait(take(given, '--wait', 'spin')),
    out: take(given, '--out'),
    status: take(given, '--status'),
  };
  for (const name of given.keys()) {
    throw wrong(`unknown option ${name}`);
  }
  return { ...options, paced: options.rate !== Infinity };
}

function take(given, name, otherwise) {
  const value = given.has(name) ? given.get(name) : otherwise;
  given.delete(name);
  if (value === undefined) {
    throw wrong(`option ${name} is missing`);
  }
  return value;
}

function whole(given, name, otherwise, least, most) {
  const value = take(given, name, otherwise);
  if (/^[0-9]{1,19}$/.test(value) && Number(value) >= least && Number(value) <= most) {
    return Number(value);
  }
  throw wrong(`${name} ${value}: not a whole number from ${least} to ${most}`);
}

function threads(given) {
  const asked = whole(given, '--threads', '1', 1, 4096);
  if (asked > 1) {
    throw wrong(`--threads ${asked}: this program has one thread`);
  }
  return asked;
}

function rate(value) {
  if (value === 'full') {
    return Infinity;
  }
  const number = value.trim() === '' ? NaN : Number(value);
  if (number > 0 && number <= 1e9) {
    return number;
  }
  throw wrong(`--rate ${value}: neither 'full' nor calls per second up to 1e9`);
}

function wait(value) {
  if (value !== 'spin' && value !== 'park') {
    throw wrong(`--wait ${value}: neither 'spin' nor 'park'`);
  }
  return value;
}

function wrong(what) {
  return new Wrong(`${what}\n${USAGE}`);
}

module.exports = { Wrong, parse };
