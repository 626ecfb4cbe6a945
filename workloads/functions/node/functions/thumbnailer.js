'use strict';

const { createHash } = require('node:crypto');

const sharp = require('sharp');

const { step } = require('../steps.js');
const { read, write } = require('../storage.js');

const NEEDS = ['object', 'width', 'height'];

/** Fits a picture into `width` and `height`, and keeps it as JPEG. */
async function handle(event) {
  const data = await step('download', { object: event.object }, () => read(event.object));
  const small = await step('resize', { bytes: data.length }, () =>
    sharp(data)
      .resize(event.width, event.height, { fit: 'inside' })
      .jpeg({ quality: 80 })
      .toBuffer({ resolveWithObject: true }),
  );
  const key = await step('upload', { bytes: small.data.length }, () => write(small.data, '.jpg'));
  const { width, height } = small.info;
  return { key, width, height, digest: createHash('sha256').update(small.data).digest('hex') };
}

module.exports = { NEEDS, handle };
