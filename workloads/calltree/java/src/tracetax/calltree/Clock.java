package tracetax.calltree;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the clock can tell apart and what reading it costs. */
final class Clock {
  private static final int READS = 200_000;
  private static final int LONGEST_NS = 1 << 16;
  private static final double NOTEWORTHY = 0.01;
  private static final double ROUNDED = 2;

  private final int[] differences = new int[LONGEST_NS];
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
      long difference = now - previous;
      if (difference >= 0 && difference < LONGEST_NS) {
        differences[(int) difference]++;
      }
      previous = now;
    }
    readNs = (previous - first) / (double) READS;
  }

  /**
   * The tick: the smallest step between differences that occur.
   *
   * <p>Two neighbouring values count as one, for a tick of ten nanoseconds shows as 20, 21, 30 and
   * 31: the conversion from cycles rounds. Three in a row cannot come of that, so the clock tells
   * nanoseconds apart, however far other groups of values lie away. Rare values do not count. A
   * step that does not divide the differences, as those of a tick do, is none.
   */
  static double tick(int[] differences, long reads) {
    double smallest = Double.MAX_VALUE;
    List<Double> means = new ArrayList<>();
    int value = 0;
    while (value < differences.length) {
      int first = value;
      long count = 0;
      double sum = 0;
      for (; value < differences.length && differences[value] > reads * NOTEWORTHY / 10; value++) {
        count += differences[value];
        sum += (double) value * differences[value];
      }
      if (count >= reads * NOTEWORTHY) {
        if (value - first > 2) {
          return 1;
        }
        double mean = sum / count;
        if (!means.isEmpty()) {
          smallest = Math.min(smallest, mean - means.get(means.size() - 1));
        }
        means.add(mean);
      }
      value++;
    }
    if (smallest == Double.MAX_VALUE) {
      return 1;
    }
    for (double mean : means) {
      double steps = mean / smallest;
      if (Math.abs(mean - Math.rint(steps) * smallest) > ROUNDED) {
        return 1;
      }
    }
    return Math.rint(smallest);
  }

  /** The tick, and the mean time of one read. */
  Map<String, Object> values() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("resolution_ns", tick(differences, READS));
    values.put("read_ns", readNs);
    return values;
  }
}
