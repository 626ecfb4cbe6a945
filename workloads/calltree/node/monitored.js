'use strict';

const { now } = require('./clock.js');

/** What the agents trace: one method that calls itself. Nothing else may live here, for some agents change the class. */
class Monitored {
  /**
   * Executes itself `depth` times, one inside the other; the innermost execution works for `methodTimeNs`.
   *
   * With no work to do it still reads the clock twice, as the monitored method of MooBench does. Returns the clock at the
   * end of the work, ns.
   */
  monitoredMethod(methodTimeNs, depth) {
    if (depth > 1) {
      return this.monitoredMethod(methodTimeNs, depth - 1);
    }
    const begin = now();
    let moment = now();
    while (moment - begin < methodTimeNs) {
      moment = now();
    }
    return moment;
  }
}

module.exports = { Monitored };
