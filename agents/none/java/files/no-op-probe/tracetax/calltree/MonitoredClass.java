package tracetax.calltree;

/**
 * The workload's monitored class as an agent would weave it, by hand: the same method with a call
 * before and one after, also where it fails. It must stay the same but for the probe.
 */
public class MonitoredClass {

  /**
   * Executes itself {@code depth} times, one inside the other; the innermost execution works for
   * {@code methodTimeNs}.
   *
   * @return the clock at the end of the work
   */
  public long monitoredMethod(long methodTimeNs, int depth) {
    Probe.before();
    try {
      if (depth > 1) {
        return monitoredMethod(methodTimeNs, depth - 1);
      }
      long begin = System.nanoTime();
      long now;
      do {
        now = System.nanoTime();
      } while (now - begin < methodTimeNs);
      return now;
    } finally {
      Probe.after();
    }
  }
}
