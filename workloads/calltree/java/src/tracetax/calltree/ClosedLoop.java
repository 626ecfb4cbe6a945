package tracetax.calltree;

/** Calls back to back. */
final class ClosedLoop extends CallLoop {
  private final MonitoredClass monitored;
  private final long methodTimeNs;
  private final int depth;

  ClosedLoop(MonitoredClass monitored, Options options, Stop stop) {
    super(stop);
    this.monitored = monitored;
    this.methodTimeNs = options.methodTimeNs;
    this.depth = options.depth;
  }

  @Override
  long chunk(Samples samples, int from, int calls, long epochNs) {
    long[] durations = samples.durations;
    long sum = 0;
    for (int i = from; i < from + calls; i++) {
      long start = System.nanoTime();
      sum += monitored.monitoredMethod(methodTimeNs, depth);
      durations[i] = System.nanoTime() - start;
    }
    return sum;
  }
}
