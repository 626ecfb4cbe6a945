'use strict';

// Required after an agent: marks the end of its set-up. An agent's files lie elsewhere than these.

const required = process.execArgv.flatMap((word) => /^--(?:require|import)=(.+)/.exec(word)?.[1] ?? []);

if (required.some((file) => !file.startsWith(__dirname))) {
  require('./marks.js').mark('agent');
}
