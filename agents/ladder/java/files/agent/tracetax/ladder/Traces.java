package tracetax.ladder;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Which trace a thread is in. */
final class Traces {
  private static final long UNIQUE = (long) new SecureRandom().nextInt() << Integer.SIZE;
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final ThreadLocal<Trace> current = new ThreadLocal<>();

  /** A number that no other trace has. */
  static long nextId() {
    return UNIQUE | Integer.toUnsignedLong(NEXT.getAndIncrement());
  }

  /** The trace of this thread; null outside of one. */
  Trace current() {
    return current.get();
  }

  /** A new one, which is that of this thread from now on. */
  Trace begin() {
    Trace trace = new Trace(nextId(), Thread.currentThread().getId());
    current.set(trace);
    return trace;
  }

  /** This thread is in none any more. */
  void end() {
    current.remove();
  }
}
