package tracetax.floor;

import java.util.concurrent.ArrayBlockingQueue;

/**
 * Records the executions of one thread. Nothing is allocated for a record, and nothing is shared
 * with another thread but whole chunks. A JVM loads one subclass, so that calls are bound to it.
 *
 * <p>An execution's place is two numbers in one: its order among those of its trace in the upper
 * half, its depth in the lower. So one addition counts both.
 */
public abstract class Recorder {
  static final int CHUNK_BYTES = 56 << 10;
  static final int CHUNKS = 16;

  /** From an execution to the first one inside it. */
  static final long STEP = (1L << 32) + 1;

  /** Traces of a thread before their numbers would run into another's. */
  private static final int TRACE_BITS = 40;

  final Thread owner = Thread.currentThread();

  /** Chunks that the writer has sent. */
  final ArrayBlockingQueue<Chunk> free = new ArrayBlockingQueue<>(CHUNKS);

  /** Where the writer is to begin. */
  final Chunk first;

  byte[] bytes;
  int used;
  long trace;

  private final boolean waits;
  private Chunk chunk;
  private long next;
  private volatile long dropped;

  Recorder(int thread, boolean waits) {
    this.waits = waits;
    trace = ((long) (thread + 1) << TRACE_BITS) + 1;
    for (int count = 1; count < CHUNKS; count++) {
      free.add(new Chunk(CHUNK_BYTES));
    }
    first = chunk = new Chunk(CHUNK_BYTES);
    bytes = chunk.bytes;
  }

  /** An execution begins; its place. */
  public final long enter() {
    long place = next;
    next = place + STEP;
    return place;
  }

  /** It has ended; {@code start} and {@code end} are readings of the clock. */
  public abstract void exit(int method, long place, long start, long end);

  /** Whether it is the outermost, whose records are then published. */
  final boolean leave(long place) {
    if ((int) place != 0) {
      next--;
      return false;
    }
    chunk.publish(used);
    trace++;
    next = 0;
    return true;
  }

  /** Takes the next chunk; false where none is free and the record is dropped. */
  final boolean goOn() {
    chunk.publish(used);
    Chunk following = free.poll();
    while (following == null) {
      if (!waits || Probe.writer.hasFailed()) {
        dropped++; // by this thread alone
        return false;
      }
      Probe.writer.wake();
      Thread.yield();
      following = free.poll();
    }
    chunk.followedBy(following);
    chunk = following;
    bytes = following.bytes;
    used = 0;
    return true;
  }

  /** Records that found no room so far. */
  final long dropped() {
    return dropped;
  }
}
