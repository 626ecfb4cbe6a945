package tracetax.calltree;

import java.util.concurrent.locks.LockSupport;

/** How a caller waits for the intended start of its next call. */
enum Wait {
  /**
   * Reads the clock until the time has come: starts on time, stays on its core and keeps it warm.
   */
  SPIN {
    @Override
    long until(long intendedNs) {
      long now;
      do {
        now = System.nanoTime();
      } while (now - intendedNs < 0);
      return now;
    }
  },

  /**
   * Parks until the time has come, and parks again for whatever remains when woken early. It never
   * spins, so a call starts late by the timer's slack and the wake-up (some 50 µs on Linux), on a
   * core that has slept, as a service's do.
   */
  PARK {
    @Override
    long until(long intendedNs) {
      long now = System.nanoTime();
      while (now - intendedNs < 0) {
        LockSupport.parkNanos(intendedNs - now);
        now = System.nanoTime();
      }
      return now;
    }
  };

  /** Returns at {@code intendedNs}, at once if it has passed, with the clock as last read. */
  abstract long until(long intendedNs);
}
