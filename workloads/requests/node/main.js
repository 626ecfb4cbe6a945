'use strict';

const { createServer } = require('node:http');

const { handle } = require('./handler.js');
const { Worlds } = require('./worlds.js');

const KEEP_ALIVE_MS = 75_000;

/** Serves until SIGTERM or SIGINT; Node then ends by itself. */
function main() {
  const { LISTEN, DATABASE_URL, POOL = '10' } = process.env;
  if (!LISTEN || !DATABASE_URL) {
    throw new Error('LISTEN and DATABASE_URL must be set');
  }
  const size = Number(POOL);
  if (!Number.isInteger(size) || size < 1) {
    throw new Error(`POOL=${POOL}: not a number of connections`);
  }
  const { hostname, port } = new URL(`http://${LISTEN}`);
  const worlds = new Worlds(DATABASE_URL, size);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    handle(request, response, worlds),
  );
  server.listen(Number(port), hostname);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => server.close(() => worlds.end()));
  }
}

main();
