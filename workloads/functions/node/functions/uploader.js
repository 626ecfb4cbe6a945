'use strict';

const { createHash } = require('node:crypto');
const { extname } = require('node:path');

const { step } = require('../steps.js');
const { ADDRESS, write } = require('../storage.js');

const NEEDS = ['path'];

/** Fetches what lies at a `path` of the store's address, as from any server, and puts it into object storage. */
async function handle({ path }) {
  const data = await step('download', { path }, async () => {
    const answer = await fetch(ADDRESS + path);
    if (!answer.ok) {
      throw new Error(`${path}: ${answer.status}`);
    }
    return Buffer.from(await answer.arrayBuffer());
  });
  const key = await step('upload', { bytes: data.length }, () => write(data, extname(path)));
  return { key, bytes: data.length, digest: createHash('sha256').update(data).digest('hex') };
}

module.exports = { NEEDS, handle };
