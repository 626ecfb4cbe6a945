package tracetax.ladder;

import java.nio.ByteBuffer;

/** An execution as one record. */
final class OperationExecution extends Record {
  static final int SIZE = 44;
  private static final Class<?>[] TYPES = {
    String.class,
    String.class,
    long.class,
    long.class,
    long.class,
    String.class,
    int.class,
    int.class,
  };

  private final String signature;
  private final long trace;
  private final long start;
  private final long end;
  private final int order;
  private final int depth;

  OperationExecution(String signature, long trace, long start, long end, int order, int depth) {
    this.signature = signature;
    this.trace = trace;
    this.start = start;
    this.end = end;
    this.order = order;
    this.depth = depth;
  }

  @Override
  String kind() {
    return EXECUTION;
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
    return new Object[] {signature, NO_SESSION, trace, start, end, HOST, order, depth};
  }

  @Override
  void write(ByteBuffer buffer, Registry registry) {
    buffer.putInt(registry.get(signature)).putInt(registry.get(NO_SESSION));
    buffer.putLong(trace).putLong(start).putLong(end);
    buffer.putInt(registry.get(HOST)).putInt(order).putInt(depth);
  }
}
