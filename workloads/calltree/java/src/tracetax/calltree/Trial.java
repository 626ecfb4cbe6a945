package tracetax.calltree;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One trial, command by command: warm-up, measured calls, drained. */
final class Trial {
  private final Options options;
  private final StatusLog status;
  private final Stop stop;
  private final Callers callers;
  private final WarmUp warmUp;
  private final Map<String, Object> snapshots = new LinkedHashMap<>();
  private CollectionLog collections;
  private boolean entered;
  private boolean measured;

  /** Starts the callers; everything that the measured calls need is then in place. */
  Trial(Options options, StatusLog status, Stop stop, Snapshot main) throws IOException {
    this.options = options;
    this.status = status;
    this.stop = stop;
    MonitoredClass monitored = new MonitoredClass();
    CallLoop loop =
        options.paced()
            ? new PacedLoop(monitored, options, stop)
            : new ClosedLoop(monitored, options, stop);
    warmUp = new WarmUp(loop.getClass());
    callers = new Callers(options, loop);
    snapshots.put("main", main.values());
    status.event("ready", "");
  }

  /**
   * Makes a burst of warm-up calls. The very first call is made by itself and told: until then an
   * agent has set itself up and woven what it traces.
   */
  void warmUp(long calls) throws IOException, InterruptedException {
    long left = calls;
    if (warmUp.calls() == 0) {
      callers.warmUp(1);
      status.event("first-monitored", callers.all[0].lastNs(), "");
      left--;
    }
    if (left > 0) {
      callers.warmUp(left);
    }
    if (stop.requested()) {
      return;
    }
    warmUp.made(calls);
    listen();
    Warmth warmth = warmUp.glance();
    if (warmth.driver == Warmth.TOP_TIER && !entered) {
      entered = true;
      callers.enter();
    }
    status.event(
        "warmed",
        "calls="
            + warmUp.calls()
            + " driver="
            + warmth.driver
            + " method="
            + warmth.method
            + " how="
            + warmth.how);
  }

  /** Has collections told of from now on: after the first call, which a start-up time ends with. */
  private void listen() {
    if (collections == null) {
      collections = new CollectionLog();
    }
  }

  /** Makes the measured calls. */
  void measure() throws IOException, InterruptedException {
    if (measured) {
      throw new IllegalStateException("measure: the measured calls are already made");
    }
    listen();
    warmUp.look();
    Snapshot first = Snapshot.take();
    status.event("first-call", first.monotonicNs, "");
    callers.measure();
    if (stop.requested()) {
      return;
    }
    Snapshot last = Snapshot.take();
    status.event("last-call", last.monotonicNs, "");
    snapshots.put("first_call", first.values());
    snapshots.put("last_call", last.values());
    measured = true;
  }

  /** Takes the last snapshots and writes everything. */
  void drained() throws IOException, InterruptedException {
    if (!measured) {
      throw new IllegalStateException("drained: nothing has been measured");
    }
    Snapshot drained = Snapshot.take();
    status.event("drained", drained.monotonicNs, "");
    snapshots.put("drained", drained.values());
    collections.end();
    System.gc();
    snapshots.put("collected", Snapshot.take().values());
    write();
    status.event("written", "");
  }

  private void write() throws IOException {
    TrialFolder folder = new TrialFolder(options.out);
    List<String> samples = new ArrayList<>();
    List<String> starts = new ArrayList<>();
    List<String> lateness = new ArrayList<>();
    List<Object> counters = new ArrayList<>();
    for (Caller caller : callers.all) {
      add(folder, samples, "samples", caller.thread, caller.samples.durations);
      if (options.paced()) {
        add(folder, starts, "start", caller.thread, caller.samples.starts);
        add(folder, lateness, "late", caller.thread, caller.samples.lateness);
      }
      counters.add(caller.counters());
    }
    Map<String, Object> files = new LinkedHashMap<>();
    files.put("samples", samples);
    files.put("start", starts);
    files.put("late", lateness);
    Map<String, Object> trial = new LinkedHashMap<>();
    trial.put("format", 1);
    trial.put("workload", "calltree/java");
    trial.put("files", files);
    trial.put("threads", options.threads);
    trial.put("calls", options.calls);
    trial.put("invocations", options.calls * options.depth);
    trial.put("warm_up", warmUp.values());
    trial.put("clock", Clock.measure().values());
    trial.put("snapshots", snapshots);
    trial.put("collections", collections.values());
    trial.put("caller", counters);
    trial.put("versions", versions());
    trial.put("vm_flags", vmFlags());
    folder.writeWhole("trial.json", Json.of(trial));
  }

  private static void add(
      TrialFolder folder, List<String> names, String kind, int thread, long[] values)
      throws IOException {
    String name = kind + "-" + thread + ".i64";
    folder.writeValues(name, values);
    names.add(name);
  }

  private static Map<String, Object> versions() {
    Map<String, Object> versions = new LinkedHashMap<>();
    for (String name :
        new String[] {"java.version", "java.vm.version", "java.vm.name", "java.vendor"}) {
      versions.put(name, System.getProperty(name));
    }
    return versions;
  }

  private static String vmFlags() {
    String flags = Diagnostics.run("vmFlags");
    return flags == null ? "" : flags.trim();
  }
}
