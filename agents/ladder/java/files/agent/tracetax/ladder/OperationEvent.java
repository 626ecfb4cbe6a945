package tracetax.ladder;

import java.nio.ByteBuffer;

/** Says that an execution begins, has ended, or has failed. */
abstract class OperationEvent extends Record {
  static final int SIZE = 28;
  static final int FAILED_SIZE = SIZE + Integer.BYTES;
  private static final Class<?>[] TYPES = {
    long.class, long.class, int.class, String.class, String.class,
  };
  private static final Class<?>[] FAILED_TYPES = {
    long.class, long.class, int.class, String.class, String.class, String.class,
  };

  private final long time;
  private final long trace;
  private final int index;
  private final String signature;
  private final String type;

  private OperationEvent(long time, long trace, int index, String signature, String type) {
    this.time = time;
    this.trace = trace;
    this.index = index;
    this.signature = signature;
    this.type = type;
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
    return new Object[] {time, trace, index, signature, type};
  }

  @Override
  void write(ByteBuffer buffer, Registry registry) {
    buffer.putLong(time).putLong(trace).putInt(index);
    buffer.putInt(registry.get(signature)).putInt(registry.get(type));
  }

  /** It begins. */
  static final class Before extends OperationEvent {
    Before(long time, long trace, int index, String signature, String type) {
      super(time, trace, index, signature, type);
    }

    @Override
    String kind() {
      return BEFORE;
    }
  }

  /** It has ended. */
  static final class After extends OperationEvent {
    After(long time, long trace, int index, String signature, String type) {
      super(time, trace, index, signature, type);
    }

    @Override
    String kind() {
      return AFTER;
    }
  }

  /** It has ended by an exception. */
  static final class Failed extends OperationEvent {
    private final String cause;

    Failed(long time, long trace, int index, String signature, String type, String cause) {
      super(time, trace, index, signature, type);
      this.cause = cause;
    }

    @Override
    String kind() {
      return FAILED;
    }

    @Override
    int size() {
      return FAILED_SIZE;
    }

    @Override
    Class<?>[] valueTypes() {
      return FAILED_TYPES.clone();
    }

    @Override
    Object[] values() {
      Object[] event = super.values();
      return new Object[] {event[0], event[1], event[2], event[3], event[4], cause};
    }

    @Override
    void write(ByteBuffer buffer, Registry registry) {
      super.write(buffer, registry);
      buffer.putInt(registry.get(cause));
    }
  }
}
