package tracetax.ladder;

import java.nio.ByteBuffer;

/** Says that a trace begins. */
final class TraceMetadata extends Record {
  static final int SIZE = 36;
  private static final Class<?>[] TYPES = {
    long.class, long.class, String.class, String.class, long.class, int.class,
  };

  private final long trace;
  private final long threadId;

  TraceMetadata(long trace, long threadId) {
    this.trace = trace;
    this.threadId = threadId;
  }

  @Override
  String kind() {
    return TRACE;
  }

  @Override
  int size() {
    return SIZE;
  }

  @Override
  Class<?>[] valueTypes() {
    return TYPES.clone();
  }

  @Override
  Object[] values() {
    return new Object[] {trace, threadId, NO_SESSION, HOST, trace, -1};
  }

  @Override
  void write(ByteBuffer buffer, Registry registry) {
    buffer.putLong(trace).putLong(threadId);
    buffer.putInt(registry.get(NO_SESSION)).putInt(registry.get(HOST));
    buffer.putLong(trace).putInt(-1); // its own parent, of no order
  }
}
