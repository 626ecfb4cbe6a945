package tracetax.calltree;

import java.util.LinkedHashMap;
import java.util.Map;

/** What the clock can tell apart and what reading it costs. */
final class Clock {
  private static final int READS = 200_000;

  private long resolutionNs;
  private double readNs;

  private Clock() {}

  /** Measures the clock twice, once to get warm. */
  static Clock measure() {
    new Clock().read();
    Clock clock = new Clock();
    clock.read();
    return clock;
  }

  private void read() {
    long first = System.nanoTime();
    long previous = first;
    for (int i = 0; i < READS; i++) {
      long now = System.nanoTime();
      resolutionNs = greatestCommonDivisor(resolutionNs, now - previous);
      previous = now;
    }
    readNs = (previous - first) / (double) READS;
  }

  // A read may cost more than a tick: the tick is what divides all differences, not the smallest one.
  private static long greatestCommonDivisor(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

  /** The tick, and the mean time of one read. */
  Map<String, Object> values() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("resolution_ns", resolutionNs);
    values.put("read_ns", readNs);
    return values;
  }
}
