package tracetax.ladder;

/** Makes an object of each execution, as it ends. */
final class ObjectExecutions implements Collector {
  private final Controller controller;

  ObjectExecutions(Controller controller) {
    this.controller = controller;
  }

  @Override
  public void traceBegins(Trace trace) {} // each record says what it needs

  @Override
  public void before(Execution of) {
    of.order = of.trace.nextIndex();
    of.depth = of.trace.down();
    of.start = controller.time.now();
  }

  @Override
  public void after(Execution of) {
    long end = controller.time.now();
    of.trace.up();
    controller.newRecord(
        new OperationExecution(of.signature, of.trace.id, of.start, end, of.order, of.depth));
  }

  @Override
  public void failed(Execution of, Throwable cause) {
    after(of);
  }
}
