'use strict';

const { execFile } = require('node:child_process');
const { createHash } = require('node:crypto');
const { mkdtemp, readFile, rm, writeFile } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { promisify } = require('node:util');

const ffmpeg = require('@ffmpeg-installer/ffmpeg').path;

const { step } = require('../steps.js');
const { read, write } = require('../storage.js');

const NEEDS = ['object', 'watermark', 'seconds'];
const FILTER = '[0:v][1:v]overlay=main_w-overlay_w-5:5,fps=10';

/** Puts a watermark on a film, and makes a GIF of its first `seconds`, by ffmpeg. */
async function handle(event) {
  const place = await mkdtemp(join(tmpdir(), 'video-'));
  try {
    const [film, watermark, gif] = ['film.y4m', 'watermark.png', 'film.gif'].map((name) => join(place, name));
    await step('download', { object: event.object }, async () => {
      await writeFile(film, await read(event.object));
      await writeFile(watermark, await read(event.watermark));
    });
    await step('process', { seconds: event.seconds }, () => {
      const input = ['-v', 'error', '-t', event.seconds, '-i', film, '-i', watermark];
      return promisify(execFile)(ffmpeg, [...input, '-filter_complex', FILTER, '-fflags', '+bitexact', gif]);
    });
    const data = await readFile(gif);
    const key = await step('upload', { bytes: data.length }, () => write(data, '.gif'));
    return { key, bytes: data.length, digest: createHash('sha256').update(data).digest('hex') };
  } finally {
    await rm(place, { recursive: true });
  }
}

module.exports = { NEEDS, handle };
