package tracetax.ladder;

import java.util.concurrent.atomic.AtomicLong;

/** What the general code asks before and for each record. PT4 does without. */
final class Controller {
  /** What stands for a logging time where a record is refused. */
  static final long REFUSED = Long.MIN_VALUE;

  final TimeSource time;
  private final Writer writer;
  private final AtomicLong inserts = new AtomicLong();
  private final boolean setsLoggingTime = true;
  private final boolean adaptive = false;
  private volatile boolean enabled;
  private volatile boolean terminated;

  Controller(TimeSource time, Writer writer, boolean enabled) {
    this.time = time;
    this.writer = writer;
    this.enabled = enabled;
  }

  boolean isEnabled() {
    return enabled && !terminated;
  }

  /** Whether a method is to be monitored; all are, where nothing can be changed meanwhile. */
  boolean isActivated(String signature) {
    return !adaptive || !signature.isEmpty();
  }

  /** Counts a record, and tells its logging time. */
  long admitted() {
    if (!isEnabled()) {
      return REFUSED;
    }
    long loggingTime = setsLoggingTime ? time.now() : 0;
    inserts.getAndIncrement();
    return loggingTime;
  }

  /** Takes a record that is an object; false where it was refused. */
  boolean newRecord(Record record) {
    if (record == null) {
      return false;
    }
    long loggingTime = admitted();
    if (loggingTime == REFUSED) {
      return false;
    }
    record.setLoggingTime(loggingTime);
    try {
      writer.take(record);
      return true;
    } catch (RuntimeException problem) {
      terminated = true;
      System.err.println("ladder: a record could not be written: " + problem);
      return false;
    }
  }
}
