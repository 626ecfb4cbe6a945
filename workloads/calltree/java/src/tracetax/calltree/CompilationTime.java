package tracetax.calltree;

/**
 * Tells from the JVM's compilation time whether compiling has come to an end: for a JVM without a
 * list of its code.
 */
final class CompilationTime {
  /**
   * Calls by which the chunk is compiled at the top tier: 15,000 turns of its loop, and as many
   * again to be sure.
   */
  private static final long LEAST_CALLS = 30_000;

  /** Calls without any compilation that count as its end. */
  private static final long STEADY_CALLS = 5_000;

  private long latestMs = -1;
  private long unchangedSinceCalls;

  /**
   * Returns whether nothing has been compiled for a while; to be asked after every burst.
   *
   * @param calls made so far
   * @param compilationMs spent compiling so far
   */
  boolean steady(long calls, long compilationMs) {
    if (compilationMs != latestMs) {
      latestMs = compilationMs;
      unchangedSinceCalls = calls;
    }
    return calls >= LEAST_CALLS && calls - unchangedSinceCalls >= STEADY_CALLS;
  }
}
