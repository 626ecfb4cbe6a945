'use strict';

const { createHash } = require('node:crypto');

const { numbers } = require('../chance.js');
const { step } = require('../steps.js');

const NEEDS = ['size', 'seed'];
const EDGES = 10; // that each new vertex brings, as in the graph that SeBS makes
const DAMPING = 0.85;
const LEAST_CHANGE = 1e-12;
const TOP = 10;

/**
 * Ranks the `size` vertices of a graph that a `seed` makes, which grows by preferential attachment (Barabási and Albert
 * 1999). Tells the first ones, and the rank of the very first.
 */
function handle({ size, seed }) {
  const ends = step('generate graph', { vertices: size }, () => generated(size, seed));
  const ranks = step('rank vertices', {}, () => pageRank(size, ends));
  const top = Array.from(ranks.keys())
    .sort((a, b) => ranks[b] - ranks[a])
    .slice(0, TOP);
  const rank = ranks[top[0]];
  return { top, rank, digest: createHash('sha256').update(`${top} ${rank.toFixed(9)}`).digest('hex') };
}

/** Draws edges, two ends behind each other: a new vertex chooses ends of earlier edges, so vertices with many get more. */
function generated(size, seed) {
  const next = numbers(seed);
  const bag = [0];
  const ends = [];
  for (let vertex = 1; vertex < size; vertex++) {
    const before = bag.length;
    const count = Math.min(EDGES, vertex);
    for (let i = 0; i < count; i++) {
      const other = bag[next() % before];
      ends.push(vertex, other);
      bag.push(other);
    }
    for (let i = 0; i < count; i++) {
      bag.push(vertex);
    }
  }
  return ends;
}

/** PageRank of an undirected graph, by power iteration until no rank changes. */
function pageRank(size, ends) {
  const degrees = new Uint32Array(size);
  for (const vertex of ends) {
    degrees[vertex]++;
  }
  let ranks = new Float64Array(size).fill(1 / size);
  for (let change = 1; change > LEAST_CHANGE; ) {
    const next = new Float64Array(size).fill((1 - DAMPING) / size);
    for (let i = 0; i < ends.length; i += 2) {
      const [one, other] = [ends[i], ends[i + 1]];
      next[other] += (DAMPING * ranks[one]) / degrees[one];
      next[one] += (DAMPING * ranks[other]) / degrees[other];
    }
    change = next.reduce((most, rank, vertex) => Math.max(most, Math.abs(rank - ranks[vertex])), 0);
    ranks = next;
  }
  return ranks;
}

module.exports = { NEEDS, handle };
