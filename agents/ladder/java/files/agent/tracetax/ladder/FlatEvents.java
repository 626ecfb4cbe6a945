package tracetax.ladder;

/** Writes each event straight into the buffer of its thread. */
final class FlatEvents implements Collector {
  private final Controller controller;
  private final Buffers buffers;
  private final Registry registry;

  FlatEvents(Controller controller, Writer writer) {
    this.controller = controller;
    this.buffers = writer.buffers;
    this.registry = writer.registry;
  }

  @Override
  public void traceBegins(Trace trace) {
    long loggingTime = controller.admitted();
    if (loggingTime != Controller.REFUSED) {
      Flat.trace(
          buffers.own(),
          registry.get(Record.TRACE),
          loggingTime,
          trace.id,
          trace.threadId,
          registry.get(Record.NO_SESSION),
          registry.get(Record.HOST));
    }
  }

  @Override
  public void before(Execution of) {
    write(Record.BEFORE, of, null);
  }

  @Override
  public void after(Execution of) {
    write(Record.AFTER, of, null);
  }

  @Override
  public void failed(Execution of, Throwable cause) {
    write(Record.FAILED, of, cause.getClass().getName());
  }

  private void write(String kind, Execution of, String cause) {
    long time = controller.time.now();
    long loggingTime = controller.admitted();
    if (loggingTime == Controller.REFUSED) {
      return;
    }
    int number = registry.get(kind);
    int signature = registry.get(of.signature);
    int type = registry.get(of.type);
    int why = cause == null ? 0 : registry.get(cause); // before a buffer that needs it goes
    Buffers.Own own = buffers.own();
    java.nio.ByteBuffer to = Flat.event(own, number, loggingTime, time, of.trace.id);
    to.putInt(of.trace.nextIndex()).putInt(signature).putInt(type);
    if (cause != null) {
      to.putInt(why);
    }
    if (of.outermost && !kind.equals(Record.BEFORE)) {
      own.traceEnded();
    }
  }
}
