'use strict';

const MOST_QUERIES = 500;

const PATHS = {
  '/plaintext': (response) => answer(response, 200, 'text/plain', 'Hello, World!'),
  '/json': (response) => answerJson(response, { message: 'Hello, World!' }),
  '/db': async (response, worlds) => answerJson(response, (await worlds.random(1))[0]),
  '/queries': async (response, worlds, query) => answerJson(response, await worlds.random(queries(query))),
  '/updates': async (response, worlds, query) => answerJson(response, await worlds.updated(queries(query))),
};

/** Answers a request for one of five paths, and any other with 404. */
async function handle(request, response, worlds) {
  const [path, query] = request.url.split('?');
  if (request.method !== 'GET' || !Object.hasOwn(PATHS, path)) {
    answer(response, 404, 'text/plain', 'not found\n');
    return;
  }
  try {
    await PATHS[path](response, worlds, query);
  } catch (error) {
    console.error(error.message);
    answer(response, 500, 'text/plain', 'the database failed\n');
  }
}

/** How many rows a request asks for: from 1 to 500, and 1 where it says no whole number. */
function queries(query) {
  const said = new URLSearchParams(query).get('queries');
  return /^[0-9]+$/.test(said) ? Math.min(Math.max(Number(said), 1), MOST_QUERIES) : 1;
}

function answerJson(response, value) {
  answer(response, 200, 'application/json', JSON.stringify(value));
}

function answer(response, status, type, body) {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

module.exports = { handle };
