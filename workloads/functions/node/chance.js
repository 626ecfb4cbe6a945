'use strict';

/**
 * Numbers that look random, the same in every language: xorshift with 32 bits (Marsaglia 2003). They are whole and from
 * 1 to 2³² − 1, and so is the seed.
 */
function numbers(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

module.exports = { numbers };
