package kieker.monitoring.probe.disl.flow.operationExecution;

/**
 * Kieker's probe under the name that it had before it moved to {@code
 * kieker.monitoring.probe.utilities}: the Javassist agent of 2.0.2 still weaves calls to this one.
 */
public final class OperationExecutionDataGatherer {
  private OperationExecutionDataGatherer() {}

  /** Begins an execution; null where monitoring is off. */
  public static FullOperationStartData operationStart(String signature) {
    kieker.monitoring.probe.utilities.FullOperationStartData start =
        kieker.monitoring.probe.utilities.OperationExecutionDataGatherer.operationStart(signature);
    return start == null ? null : new FullOperationStartData(start);
  }

  /** Ends it and makes its record. */
  public static void operationEnd(FullOperationStartData data) {
    kieker.monitoring.probe.utilities.OperationExecutionDataGatherer.operationEnd(data.start);
  }
}
