package tracetax.calltree;

/**
 * What the agents trace: one method that calls itself. Nothing else may live here, for some agents
 * weave the class.
 */
public class MonitoredClass {

  /**
   * Executes itself {@code depth} times, one inside the other; the innermost execution works for
   * {@code methodTimeNs}.
   *
   * <p>With no work to do it still reads the clock twice, as the monitored method of MooBench does.
   *
   * @return the clock at the end of the work
   */
  public long monitoredMethod(long methodTimeNs, int depth) {
    if (depth > 1) {
      return monitoredMethod(methodTimeNs, depth - 1);
    }
    long begin = System.nanoTime();
    long now;
    do {
      now = System.nanoTime();
    } while (now - begin < methodTimeNs);
    return now;
  }
}
