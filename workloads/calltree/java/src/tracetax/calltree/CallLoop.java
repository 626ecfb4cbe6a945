package tracetax.calltree;

/**
 * Makes a thread's calls, in chunks: the chunk is a method of its own, entered so often that it is
 * compiled as a method and not only on-stack. Warm-up and measured calls take the same way.
 */
abstract class CallLoop {
  static final int CHUNK = 16;

  private final Stop stop;

  CallLoop(Stop stop) {
    this.stop = stop;
  }

  /**
   * Makes the first {@code calls} calls of {@code samples}; ends early, after a whole chunk, when
   * stopped.
   *
   * @param epochNs the clock at the intended start of the first call of all threads
   * @return what the calls returned, summed up, so that nothing of them can be left out
   */
  final long run(Samples samples, int calls, long epochNs) {
    long sum = 0;
    for (int from = 0; from < calls && !stop.requested(); from += CHUNK) {
      // Not Math.min: when the JVM compiles that, it makes the strings of its class in this thread.
      int left = calls - from;
      sum += chunk(samples, from, left < CHUNK ? left : CHUNK, epochNs);
    }
    return sum;
  }

  /** Makes {@code calls} calls and stores their samples at {@code from} and after. */
  abstract long chunk(Samples samples, int from, int calls, long epochNs);
}
