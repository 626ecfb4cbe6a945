'use strict';

// The half of AWS's client that speaks HTTP with the Runtime API: there it is native, compiled when it is installed.
// Requests go over one connection, one after the other. All answers have a Content-Length.

const { connect } = require('node:net');

const ROOT = '/2018-06-01/runtime/invocation/';
const END_OF_HEAD = '\r\n\r\n';

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const socket = connect({ host, port: Number(port), noDelay: true });
const waiting = [];
let received = Buffer.alloc(0);

socket.on('data', (data) => {
  received = Buffer.concat([received, data]);
  for (let answer = taken(); answer; answer = taken()) {
    waiting.shift()?.resolve(answer);
  }
});
socket.on('error', (error) => waiting.splice(0).forEach(({ reject }) => reject(error)));
socket.on('close', () => process.exit(1)); // without the Runtime API there is nothing to do

/** The next whole answer of those that have been received. */
function taken() {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) {
    return undefined;
  }
  const [, ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const from = end + END_OF_HEAD.length;
  const to = from + Number(headers['content-length']);
  if (received.length < to) {
    return undefined;
  }
  const bodyJson = received.toString('utf8', from, to);
  received = received.subarray(to);
  return { bodyJson, headers };
}

/** Sends a request in one write, and gives its answer. */
function ask(method, path, body = '', more = '') {
  const length = Buffer.byteLength(body);
  const head = `${method} ${ROOT}${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${more}`;
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    socket.write(`${head}Content-Length: ${length}${END_OF_HEAD}${body}`);
  });
}

/** Waits for the next invocation. */
exports.next = () => ask('GET', 'next');

/** Answers an invocation. */
exports.done = (id, body) => {
  ask('POST', `${id}/response`, body);
};

/** Says that an invocation has failed. */
exports.error = (id, body, cause) => {
  ask('POST', `${id}/error`, body, `Lambda-Runtime-Function-XRay-Error-Cause: ${cause}\r\n`);
};
