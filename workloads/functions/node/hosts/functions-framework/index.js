'use strict';

const functions = require('@google-cloud/functions-framework');

const { BadEvent, invoke } = require('../../invocation.js');

/** What functions-framework calls for each request. What the function throws becomes a status of 500. */
functions.http('handler', async (request, response) => {
  try {
    const event = request.is('application/json') ? request.body : undefined; // without a body there is an empty object
    response.json(await invoke(event));
  } catch (error) {
    console.error(error);
    response.status(error instanceof BadEvent ? 400 : 500).json({ error: error.message });
  }
});
