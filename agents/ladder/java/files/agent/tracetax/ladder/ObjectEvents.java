package tracetax.ladder;

/** Makes an object of each event: 21 of a trace of ten executions. */
final class ObjectEvents implements Collector {
  private final Controller controller;

  ObjectEvents(Controller controller) {
    this.controller = controller;
  }

  @Override
  public void traceBegins(Trace trace) {
    controller.newRecord(new TraceMetadata(trace.id, trace.threadId));
  }

  @Override
  public void before(Execution of) {
    controller.newRecord(
        new OperationEvent.Before(
            controller.time.now(), of.trace.id, of.trace.nextIndex(), of.signature, of.type));
  }

  @Override
  public void after(Execution of) {
    controller.newRecord(
        new OperationEvent.After(
            controller.time.now(), of.trace.id, of.trace.nextIndex(), of.signature, of.type));
  }

  @Override
  public void failed(Execution of, Throwable cause) {
    controller.newRecord(
        new OperationEvent.Failed(
            controller.time.now(),
            of.trace.id,
            of.trace.nextIndex(),
            of.signature,
            of.type,
            cause.getClass().getName()));
  }
}
