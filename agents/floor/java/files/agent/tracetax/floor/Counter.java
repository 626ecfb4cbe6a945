package tracetax.floor;

/** The processor's counter, read by a native method: it costs half of {@code System.nanoTime()}. */
public final class Counter {
  private static final long CALIBRATED_NS = 20_000_000;

  private Counter() {}

  /** Its reading. */
  public static native long ticks();

  private static native String refusal();

  private static native void pair(long[] readingAndMonotonicNs);

  /**
   * Loads the library and compares the counter with the system's clock.
   *
   * @throws IllegalStateException where the counter is no clock on this machine
   */
  static Timeline calibrated(String library) {
    try {
      System.load(library);
    } catch (UnsatisfiedLinkError problem) {
      throw new IllegalStateException("its library does not load: " + problem.getMessage());
    }
    String refusal = refusal();
    if (refusal != null) {
      throw new IllegalStateException(refusal);
    }
    long[] first = new long[2];
    long[] last = new long[2];
    pair(first);
    do {
      pair(last);
    } while (last[1] - first[1] < CALIBRATED_NS);
    long epochNs = System.currentTimeMillis() * 1_000_000 - System.nanoTime();
    double nsPerReading = (double) (last[1] - first[1]) / (last[0] - first[0]);
    return new Timeline(last[0], last[1] + epochNs, nsPerReading);
  }
}
