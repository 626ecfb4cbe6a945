'use strict';

const { closeSync, openSync, writeSync } = require('node:fs');
const { now } = require('./clock.js');

/** Commands from standard input, one per line. `stop.requested` is set as soon as the event loop sees its end. */
class Commands {
  constructor(stop) {
    this.lines = [];
    this.waiting = null;
    let rest = '';
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      parts.forEach((line) => this.put(line));
    });
    process.stdin.on('end', () => {
      this.put(rest);
      stop.requested = true;
      this.offer(null);
    });
    process.stdin.on('error', () => process.stdin.emit('end'));
  }

  put(line) {
    if (line.trim() !== '') {
      this.offer(line.trim());
    }
  }

  offer(line) {
    if (this.waiting) {
      this.waiting(line);
      this.waiting = null;
    } else {
      this.lines.push(line);
    }
  }

  /** Waits for the next command; null when there will be none. */
  next() {
    if (this.lines.length > 0) {
      return Promise.resolve(this.lines.shift());
    }
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }
}

/** Events for the runner, one line each: `name monotonic_ns text`. */
class StatusLog {
  constructor(path) {
    this.file = openSync(path, 'a');
  }

  /** Appends an event, of now unless told otherwise, in one write; line breaks in the text become spaces. */
  event(name, text = '', atNs = now()) {
    writeSync(this.file, `${name} ${atNs} ${text}`.replace(/\s+/g, ' ').trim() + '\n');
  }

  close() {
    closeSync(this.file);
  }
}

module.exports = { Commands, StatusLog };
