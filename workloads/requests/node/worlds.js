'use strict';

const { Pool } = require('pg');

const ROWS = 10_000;
const CONNECTION_WITHIN_MS = 5_000;
const SELECT = { name: 'select-world', text: 'SELECT id, randomnumber FROM world WHERE id = $1' };
const UPDATE = { name: 'update-world', text: 'UPDATE world SET randomnumber = $1 WHERE id = $2' };

/** The table. A request has one connection. */
class Worlds {
  constructor(connectionString, size) {
    this.pool = new Pool({
      connectionString,
      max: size,
      connectionTimeoutMillis: CONNECTION_WITHIN_MS,
      idleTimeoutMillis: 0, // connections stay
    });
    this.pool.on('error', (error) => console.error(error.message)); // of a connection that nobody uses just now
  }

  /** Reads one row after the other, by random ids. */
  random(count) {
    return this.connected((client) => read(client, count));
  }

  /**
   * Reads rows by random ids and writes a new number into each, in one transaction. Rows are written in the order of
   * their ids, so that transactions do not wait for each other in a circle.
   */
  updated(count) {
    return this.connected(async (client) => {
      await client.query('BEGIN');
      const rows = (await read(client, count)).sort((a, b) => a.id - b.id);
      for (const row of rows) {
        row.randomNumber = randomNumber();
        await client.query({ ...UPDATE, values: [row.randomNumber, row.id] });
      }
      await client.query('COMMIT');
      return rows;
    });
  }

  /** Lends a connection. One on which something failed is closed, which ends its transaction too. */
  async connected(use) {
    const client = await this.pool.connect();
    try {
      const rows = await use(client);
      client.release();
      return rows;
    } catch (error) {
      client.release(error);
      throw error;
    }
  }

  end() {
    return this.pool.end();
  }
}

async function read(client, count) {
  const rows = [];
  for (let i = 0; i < count; i++) {
    const result = await client.query({ ...SELECT, values: [randomNumber()] });
    const { id, randomnumber } = result.rows[0];
    rows.push({ id, randomNumber: randomnumber });
  }
  return rows;
}

/** An id, or a number for a row: both are from 1 to 10,000. */
function randomNumber() {
  return 1 + Math.floor(Math.random() * ROWS);
}

module.exports = { Worlds };
