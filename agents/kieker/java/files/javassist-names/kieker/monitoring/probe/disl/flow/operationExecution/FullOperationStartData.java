package kieker.monitoring.probe.disl.flow.operationExecution;

/**
 * The start of an execution, under the name by which code that the Javassist agent wove asks for
 * it.
 */
public final class FullOperationStartData {
  final kieker.monitoring.probe.utilities.FullOperationStartData start;

  FullOperationStartData(kieker.monitoring.probe.utilities.FullOperationStartData start) {
    this.start = start;
  }
}
