package tracetax.floor;

import java.util.concurrent.ArrayBlockingQueue;

/**
 * Records the executions of one thread. Nothing is allocated for a record, and nothing is shared
 * with another thread but whole chunks. A JVM loads one subclass, so that calls are bound to it.
 */
public abstract class Recorder {
  static final int CHUNK_BYTES = 56 << 10;
  static final int CHUNKS = 16;

  /** Traces of a thread before their numbers would run into another's. */
  private static final int TRACE_BITS = 40;

  /** Chunks that the writer has sent. */
  final ArrayBlockingQueue<Chunk> free = new ArrayBlockingQueue<>(CHUNKS);

  /** Where the writer is to begin. */
  final Chunk first;

  byte[] bytes;
  int used;
  int depth;
  long trace;

  private final boolean waits;
  private Chunk chunk;
  private int order;
  private volatile long dropped;

  Recorder(int thread, boolean waits) {
    this.waits = waits;
    trace = (long) (thread + 1) << TRACE_BITS;
    for (int count = 1; count < CHUNKS; count++) {
      free.add(new Chunk(CHUNK_BYTES));
    }
    first = chunk = new Chunk(CHUNK_BYTES);
    bytes = chunk.bytes;
  }

  /** An execution begins: its place among those of its trace. */
  public final int enter() {
    if (depth++ == 0) {
      trace++;
      order = 0;
    }
    return order++;
  }

  /** It has ended; {@code start} is by {@code System.nanoTime()}. */
  public abstract void exit(int method, int order, long start);

  /** The writer may send what has been written. */
  final void publish() {
    chunk.publish(used);
  }

  /** Takes the next chunk; false where none is free and the record is dropped. */
  final boolean goOn() {
    publish();
    Chunk following = free.poll();
    while (following == null) {
      if (!waits || Probe.writer.hasFailed()) {
        dropped++; // by this thread alone
        return false;
      }
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
