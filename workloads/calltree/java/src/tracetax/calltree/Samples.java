package tracetax.calltree;

import java.util.Arrays;

/** One thread's samples, a place per call: allocated and touched before the first call. */
final class Samples {
  /** Start to end of each call, ns. */
  final long[] durations;

  /** Intended start of each call after the first of all threads, ns; null in a closed loop. */
  final long[] starts;

  /** Real minus intended start of each call, ns; null in a closed loop. */
  final long[] lateness;

  private Samples(long[] durations, long[] starts, long[] lateness) {
    this.durations = durations;
    this.starts = starts;
    this.lateness = lateness;
  }

  static Samples closed(int calls) {
    return new Samples(touched(calls), null, null);
  }

  /**
   * With the schedule of thread {@code thread} of {@code threads}, which share {@code rate} calls
   * per second evenly.
   */
  static Samples paced(int calls, int thread, int threads, double rate) {
    double periodNs = 1e9 / rate;
    long[] starts = new long[calls];
    for (int k = 0; k < calls; k++) {
      starts[k] = Math.round(((double) k * threads + thread) * periodNs);
    }
    return new Samples(touched(calls), starts, touched(calls));
  }

  private static long[] touched(int length) {
    long[] array = new long[length];
    Arrays.fill(array, -1);
    return array;
  }
}
