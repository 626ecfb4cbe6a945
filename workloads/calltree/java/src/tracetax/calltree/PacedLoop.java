package tracetax.calltree;

/**
 * Calls at a rate (open model): a late call starts at once, none is left out, and the schedule
 * stays as it was.
 */
final class PacedLoop extends CallLoop {
  private final MonitoredClass monitored;
  private final long methodTimeNs;
  private final int depth;
  private final Wait wait;

  PacedLoop(MonitoredClass monitored, Options options, Stop stop) {
    super(stop);
    this.monitored = monitored;
    this.methodTimeNs = options.methodTimeNs;
    this.depth = options.depth;
    this.wait = options.wait;
  }

  @Override
  long chunk(Samples samples, int from, int calls, long epochNs) {
    long[] durations = samples.durations;
    long[] starts = samples.starts;
    long[] lateness = samples.lateness;
    long sum = 0;
    for (int i = from; i < from + calls; i++) {
      long intended = epochNs + starts[i];
      long start = wait.until(intended);
      sum += monitored.monitoredMethod(methodTimeNs, depth);
      durations[i] = System.nanoTime() - start;
      lateness[i] = start - intended;
    }
    return sum;
  }
}
