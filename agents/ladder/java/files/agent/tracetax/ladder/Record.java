package tracetax.ladder;

import java.nio.ByteBuffer;

/** A record as an object: what a probe makes before PT3. */
abstract class Record {
  /** What Kieker's stream has before the values of each record: its class and its logging time. */
  static final int HEAD_BYTES = Integer.BYTES + Long.BYTES;

  static final String BEFORE = "kieker.common.record.flow.trace.operation.BeforeOperationEvent";
  static final String AFTER = "kieker.common.record.flow.trace.operation.AfterOperationEvent";
  static final String FAILED =
      "kieker.common.record.flow.trace.operation.AfterOperationFailedEvent";
  static final String TRACE = "kieker.common.record.flow.trace.TraceMetadata";
  static final String EXECUTION = "kieker.common.record.controlflow.OperationExecutionRecord";
  static final String HOST = "localhost";
  static final String NO_SESSION = "<no-session-id>";

  private long loggingTime;

  final long loggingTime() {
    return loggingTime;
  }

  final void setLoggingTime(long loggingTime) {
    this.loggingTime = loggingTime;
  }

  /** The class of Kieker that it is a record of. */
  abstract String kind();

  /** Bytes of its values. */
  abstract int size();

  /** The types of its values: a copy. */
  abstract Class<?>[] valueTypes();

  abstract Object[] values();

  /** Writes its values. */
  abstract void write(ByteBuffer buffer, Registry registry);
}
