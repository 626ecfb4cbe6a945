'use strict';

// Required before AWS's client: has it find rapid-client.js beside this in the place of its native half.

const Module = require('node:module');
const { join } = require('node:path');

const resolve = Module._resolveFilename;

Module._resolveFilename = function (request, ...others) {
  return request === './rapid-client.node' ? join(__dirname, 'rapid-client.js') : resolve.call(this, request, ...others);
};
