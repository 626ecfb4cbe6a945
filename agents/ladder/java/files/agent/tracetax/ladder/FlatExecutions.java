package tracetax.ladder;

/** Writes each execution straight into the buffer of its thread, as it ends. */
final class FlatExecutions implements Collector {
  private final Controller controller;
  private final Buffers buffers;
  private final Registry registry;
  private final int kind;
  private final int session;
  private final int host;

  FlatExecutions(Controller controller, Writer writer) {
    this.controller = controller;
    this.buffers = writer.buffers;
    this.registry = writer.registry;
    kind = registry.get(Record.EXECUTION);
    session = registry.get(Record.NO_SESSION);
    host = registry.get(Record.HOST);
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
    long loggingTime = controller.admitted();
    if (loggingTime == Controller.REFUSED) {
      return;
    }
    int signature = registry.get(of.signature);
    Buffers.Own own = buffers.own();
    Flat.execution(own, kind, loggingTime)
        .putInt(signature)
        .putInt(session)
        .putLong(of.trace.id)
        .putLong(of.start)
        .putLong(end)
        .putInt(host)
        .putInt(of.order)
        .putInt(of.depth);
    if (of.outermost) {
      own.traceEnded();
    }
  }

  @Override
  public void failed(Execution of, Throwable cause) {
    after(of);
  }
}
