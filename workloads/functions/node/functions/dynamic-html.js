'use strict';

const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const Mustache = require('mustache');

const { numbers } = require('../chance.js');
const { step } = require('../steps.js');

const NEEDS = ['username', 'random_len', 'seed', 'time'];
const FILE = 'page.html';
const LESS_THAN = 1_000_000;

/** Makes a page for a user from a template: a list of `random_len` numbers of a `seed`. */
function handle(event) {
  const count = event.random_len;
  const drawn = step('draw numbers', { count }, () => {
    const next = numbers(event.seed);
    return Array.from({ length: count }, () => next() % LESS_THAN);
  });
  const template = step('read template', { file: FILE }, () => readFileSync(join(__dirname, '../templates', FILE), 'utf8'));
  const html = step('render page', {}, () =>
    Mustache.render(template, { username: event.username, cur_time: event.time, random_numbers: drawn }),
  );
  return { html, digest: createHash('sha256').update(html).digest('hex') };
}

module.exports = { NEEDS, handle };
