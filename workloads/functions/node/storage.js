'use strict';

// Where functions keep objects: a bucket of inputs, which anybody may read, and one of outputs, by S3.

const { randomUUID } = require('node:crypto');

const { GetObjectCommand, PutObjectCommand, S3Client } = require('@aws-sdk/client-s3');

const INPUTS = 'inputs';
const OUTPUTS = 'outputs';

const { host, password, username } = new URL(process.env.TRACETAX_STORE);
const ADDRESS = `http://${host}`;

const client = new S3Client({
  endpoint: ADDRESS,
  region: 'us-east-1',
  credentials: { accessKeyId: username, secretAccessKey: password },
  forcePathStyle: true,
});

/** An object of the inputs. */
async function read(name) {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: INPUTS, Key: name }));
  return Buffer.from(await Body.transformToByteArray());
}

/** Puts an object into the outputs; gives its name, which is new. */
async function write(data, suffix) {
  const name = `${randomUUID()}${suffix}`;
  await client.send(new PutObjectCommand({ Bucket: OUTPUTS, Key: name, Body: data }));
  return name;
}

module.exports = { ADDRESS, read, write };
