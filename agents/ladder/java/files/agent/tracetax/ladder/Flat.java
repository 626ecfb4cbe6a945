package tracetax.ladder;

import java.nio.ByteBuffer;

/** Writes records as Kieker's stream has them, from values and the numbers of strings. */
final class Flat {
  private Flat() {}

  static void trace(
      Buffers.Own own,
      int kind,
      long loggingTime,
      long trace,
      long threadId,
      int session,
      int host) {
    ByteBuffer to = own.room(Record.HEAD_BYTES + TraceMetadata.SIZE);
    to.putInt(kind).putLong(loggingTime);
    to.putLong(trace).putLong(threadId).putInt(session).putInt(host).putLong(trace).putInt(-1);
  }

  static ByteBuffer event(Buffers.Own own, int kind, long loggingTime, long time, long trace) {
    ByteBuffer to = own.room(Record.HEAD_BYTES + OperationEvent.FAILED_SIZE);
    return to.putInt(kind).putLong(loggingTime).putLong(time).putLong(trace);
  }

  static ByteBuffer execution(Buffers.Own own, int kind, long loggingTime) {
    ByteBuffer to = own.room(Record.HEAD_BYTES + OperationExecution.SIZE);
    return to.putInt(kind).putLong(loggingTime);
  }
}
