import tracetax.calltree.MonitoredClass;

/**
 * The least that times every call: one loop, two clock reads, two arrays.
 *
 * <p>Arguments: calls, depth, warm-up calls. Prints the time from before the first to after the
 * last measured call, and the mean of the calls' own times, in ns.
 */
public final class BareLoop {
  private static final int WARM_UP_PIECE = 16;

  private BareLoop() {}

  /** Warms up, entering the loop often enough for it to be compiled as a method, and measures. */
  public static void main(String[] arguments) {
    int calls = Integer.parseInt(arguments[0]);
    int depth = Integer.parseInt(arguments[1]);
    int warmUp = Integer.parseInt(arguments[2]);
    MonitoredClass monitored = new MonitoredClass();
    long[] begins = new long[calls];
    long[] ends = new long[calls];
    long sum = 0;
    for (int made = 0; made < warmUp; made += WARM_UP_PIECE) {
      sum += run(monitored, depth, begins, ends, WARM_UP_PIECE);
    }
    long first = System.nanoTime();
    sum += run(monitored, depth, begins, ends, calls);
    long last = System.nanoTime();
    double service = 0;
    for (int i = 0; i < calls; i++) {
      service += ends[i] - begins[i];
    }
    System.out.println((last - first) + " " + service / calls + " " + sum);
  }

  private static long run(
      MonitoredClass monitored, int depth, long[] begins, long[] ends, int calls) {
    long sum = 0;
    for (int i = 0; i < calls; i++) {
      begins[i] = System.nanoTime();
      sum += monitored.monitoredMethod(0, depth);
      ends[i] = System.nanoTime();
    }
    return sum;
  }
}
