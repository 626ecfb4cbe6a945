package tracetax.ladder;

import java.nio.ByteBuffer;

/** Writes each event straight into the buffer of its thread. */
final class FlatEvents implements Collector {
  private final Controller controller;
  private final Buffers buffers;
  private final Registry registry;
  private final int trace;
  private final int before;
  private final int after;
  private final int failed;
  private final int session;
  private final int host;

  FlatEvents(Controller controller, Writer writer) {
    this.controller = controller;
    this.buffers = writer.buffers;
    this.registry = writer.registry;
    trace = registry.get(Record.TRACE);
    before = registry.get(Record.BEFORE);
    after = registry.get(Record.AFTER);
    failed = registry.get(Record.FAILED);
    session = registry.get(Record.NO_SESSION);
    host = registry.get(Record.HOST);
  }

  @Override
  public void traceBegins(Trace begun) {
    long loggingTime = controller.admitted();
    if (loggingTime != Controller.REFUSED) {
      Flat.trace(buffers.own(), trace, loggingTime, begun.id, begun.threadId, session, host);
    }
  }

  @Override
  public void before(Execution of) {
    of.signatureNumber = registry.get(of.signature);
    of.typeNumber = registry.get(of.type);
    write(before, of, null);
  }

  @Override
  public void after(Execution of) {
    write(after, of, null);
  }

  @Override
  public void failed(Execution of, Throwable cause) {
    write(failed, of, cause.getClass().getName());
  }

  private void write(int kind, Execution of, String cause) {
    long time = controller.time.now();
    long loggingTime = controller.admitted();
    if (loggingTime == Controller.REFUSED) {
      return;
    }
    int why = cause == null ? 0 : registry.get(cause); // before a buffer that needs it goes
    Buffers.Own own = buffers.own();
    ByteBuffer to = Flat.event(own, kind, loggingTime, time, of.trace.id);
    to.putInt(of.trace.nextIndex()).putInt(of.signatureNumber).putInt(of.typeNumber);
    if (cause != null) {
      to.putInt(why);
    }
    if (of.outermost && kind != before) {
      own.traceEnded();
    }
  }
}
