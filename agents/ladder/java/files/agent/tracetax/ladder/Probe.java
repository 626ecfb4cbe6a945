package tracetax.ladder;

/**
 * The general probe, around an execution: its collector, its signatures and its clock are chosen.
 */
public final class Probe {
  private static final Writer WRITER = LadderAgent.writer;
  private static final Controller CONTROLLER =
      new Controller(
          new TimeSource.Nanos(), WRITER, LadderAgent.settings.layer != Settings.Layer.deactivated);
  private static final Signatures SIGNATURES = Signatures.of(LadderAgent.settings);
  private static final Collector COLLECTOR = Collector.of(LadderAgent.settings, CONTROLLER, WRITER);
  private static final Traces TRACES = new Traces();

  private Probe() {}

  /** An execution begins; null where nothing is to be recorded of it. */
  public static Execution enter(Object self, int method) {
    if (!CONTROLLER.isEnabled()) {
      return null;
    }
    MonitoredMethod monitored = MonitoredMethod.of(method);
    String signature = SIGNATURES.of(monitored);
    if (!CONTROLLER.isActivated(signature)) {
      return null;
    }
    Trace trace = TRACES.current();
    boolean outermost = trace == null;
    if (outermost) {
      trace = TRACES.begin();
      COLLECTOR.traceBegins(trace);
    }
    String type = self == null ? monitored.owner : self.getClass().getName();
    Execution execution = new Execution(trace, outermost, signature, type);
    COLLECTOR.before(execution);
    return execution;
  }

  /** It has ended. */
  public static void exit(Execution execution) {
    if (execution != null) {
      if (execution.outermost) {
        TRACES.end();
      }
      COLLECTOR.after(execution);
    }
  }

  /** It has ended by an exception. */
  public static void failed(Execution execution, Throwable cause) {
    if (execution != null) {
      if (execution.outermost) {
        TRACES.end();
      }
      COLLECTOR.failed(execution, cause);
    }
  }
}
