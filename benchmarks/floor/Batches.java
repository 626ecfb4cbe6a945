import java.util.Arrays;
import java.util.function.LongSupplier;
import tracetax.calltree.MonitoredClass;

/**
 * Mean time of an invocation in batches of 20 calls, depth 10: the least that many batches agree
 * on. Arguments: how many batches; the native library of the counter, or nothing.
 */
public final class Batches {
  private static final int DEPTH = 10;
  private static final int CALLS = 20;
  private static final int READINGS = 1_000;
  private static final int WARM_UP = 20_000;
  private static volatile long kept;

  private Batches() {}

  /** Runs as the call tree does: in a thread of its own. */
  public static void main(String[] arguments) throws InterruptedException {
    int batches = Integer.parseInt(arguments[0]);
    Thread caller = new Thread(() -> measure(batches, arguments), "caller-0");
    caller.start();
    caller.join();
  }

  private static void measure(int batches, String[] arguments) {
    if (arguments.length > 1) {
      System.load(arguments[1]);
      told("counter", batches, READINGS, () -> readings(tracetax.floor.Counter::ticks));
      told("nanoTime", batches, READINGS, () -> readings(System::nanoTime));
      return;
    }
    MonitoredClass monitored = new MonitoredClass();
    told("invocation", batches, CALLS * DEPTH, () -> calls(monitored));
  }

  private static long calls(MonitoredClass monitored) {
    long sum = 0;
    for (int call = 0; call < CALLS; call++) {
      sum += monitored.monitoredMethod(0, DEPTH);
    }
    return sum;
  }

  private static long readings(LongSupplier clock) {
    long sum = 0;
    for (int reading = 0; reading < READINGS; reading++) {
      sum ^= clock.getAsLong();
    }
    return sum;
  }

  private static void told(String what, int batches, int of, LongSupplier batch) {
    double[] means = new double[batches];
    for (int number = -WARM_UP; number < batches; number++) {
      long start = System.nanoTime();
      kept = batch.getAsLong();
      if (number >= 0) {
        means[number] = (double) (System.nanoTime() - start) / of;
      }
    }
    Arrays.sort(means);
    System.out.printf("%s %.2f %.2f%n", what, means[batches / 10], means[batches / 2]);
  }
}
