'use strict';

const { invoke } = require('../../invocation.js');

/** What AWS's runtime interface client calls for each invocation. What the function throws becomes an error of it. */
exports.handler = (event) => invoke(event);
