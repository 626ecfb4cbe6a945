package tracetax.kieker;

import java.util.Arrays;
import java.util.Stack;
import kieker.monitoring.core.controller.IMonitoringController;
import kieker.monitoring.core.controller.MonitoringController;
import kieker.monitoring.probe.utilities.FullOperationStartData;
import kieker.monitoring.probe.utilities.OperationExecutionDataGatherer;
import org.aspectj.lang.JoinPoint;

/**
 * Kieker's records by AspectJ, with signatures as the other technologies have them: made once for
 * each place in the code, not looked up in every execution.
 *
 * <p>Kieker's own aspect takes the signature from {@code thisJoinPoint}, for which AspectJ makes an
 * object with boxed arguments in each execution, and looks its text up in a map twice. Here it
 * comes from {@code thisJoinPointStaticPart} and an array. All else is as there: a stack per thread
 * carries the start of an execution to its end.
 */
public aspect StaticSignature pertypewithin(tracetax.calltree.MonitoredClass) {
  private static final IMonitoringController CONTROLLER = MonitoringController.getInstance();

  private final ThreadLocal<Stack<FullOperationStartData>> started =
      ThreadLocal.withInitial(Stack::new);

  /** By the number of a place in the woven class. */
  private String[] signatures = new String[0];

  pointcut monitored():
      execution(* *(..)) || execution(new(..));

  before(): monitored() {
    FullOperationStartData start =
        OperationExecutionDataGatherer.operationStart(signature(thisJoinPointStaticPart));
    if (start != null) {
      started.get().push(start);
    }
  }

  after(): monitored() {
    if (!CONTROLLER.isMonitoringEnabled()) {
      return;
    }
    Stack<FullOperationStartData> open = started.get();
    if (!open.isEmpty()) {
      OperationExecutionDataGatherer.operationEnd(open.pop());
    }
  }

  private String signature(JoinPoint.StaticPart place) {
    String[] known = signatures;
    int id = place.getId();
    if (id < known.length && known[id] != null) {
      return known[id];
    }
    String[] more = Arrays.copyOf(known, Math.max(known.length, id + 1));
    more[id] = place.getSignature().toLongString().replace(", ", ",");
    signatures = more;
    return more[id];
  }
}
