package tracetax.kieker;

import ch.usi.dag.disl.annotation.After;
import ch.usi.dag.disl.annotation.Before;
import ch.usi.dag.disl.annotation.SyntheticLocal;
import ch.usi.dag.disl.marker.BodyMarker;
import kieker.monitoring.probe.utilities.FullOperationStartData;
import kieker.monitoring.probe.utilities.OperationExecutionDataGatherer;

/**
 * Kieker's records by DiSL. Its own probe covers constructors too, and a constructor woven so is
 * rejected by newer JVMs; this one covers the monitored method.
 */
public final class DislProbe {
  @SyntheticLocal private static FullOperationStartData start;

  private DislProbe() {}

  /** Begins an execution. */
  @Before(marker = BodyMarker.class, scope = "MonitoredClass.monitoredMethod")
  public static void before(DislSignature signature) {
    start = OperationExecutionDataGatherer.operationStart(signature.text());
  }

  /** Ends it and makes its record. */
  @After(marker = BodyMarker.class, scope = "MonitoredClass.monitoredMethod")
  public static void after() {
    if (start != null) {
      OperationExecutionDataGatherer.operationEnd(start);
    }
  }
}
