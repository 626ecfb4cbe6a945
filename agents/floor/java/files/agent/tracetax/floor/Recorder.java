package tracetax.floor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Records the executions of one thread, each as Kieker's OperationExecutionRecord of 56 bytes. Nothing is allocated, and
 * nothing is shared with another thread but whole chunks.
 */
public final class Recorder {
  static final int RECORD_BYTES = 56;
  static final int CHUNK_RECORDS = 1_024;
  static final int CHUNKS = 16;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int CHUNK_BYTES = CHUNK_RECORDS * RECORD_BYTES;

  /** Chunks that the writer has sent. */
  final ArrayBlockingQueue<Chunk> free = new ArrayBlockingQueue<>(CHUNKS);

  /** Where the writer is to begin. */
  final Chunk first;

  private final boolean waits;
  private final long epochNs;
  private Chunk chunk;
  private byte[] bytes;
  private int used;
  private int depth;
  private int order;
  private long trace;
  private volatile long dropped;

  Recorder(int number, boolean waits, long epochNs) {
    this.waits = waits;
    this.epochNs = epochNs;
    trace = (long) number << 40;
    for (int count = 1; count < CHUNKS; count++) {
      free.add(new Chunk(CHUNK_BYTES));
    }
    first = chunk = new Chunk(CHUNK_BYTES);
    bytes = chunk.bytes;
  }

  /** An execution begins: its place among those of its trace. */
  public int enter() {
    if (depth++ == 0) {
      trace++;
      order = 0;
    }
    return order++;
  }

  /** It has ended; {@code start} is by {@code System.nanoTime()}. */
  public void exit(int method, int eoi, long start) {
    long end = System.nanoTime();
    int ess = --depth;
    if (used == CHUNK_BYTES && !goOn()) {
      return;
    }
    write(method, eoi, ess, start + epochNs, end + epochNs);
    if (ess == 0) {
      chunk.publish(used);
    }
  }

  private void write(int method, int eoi, int ess, long tin, long tout) {
    byte[] to = bytes;
    int at = used;
    LONGS.set(to, at, (long) Writer.EXECUTION << 32 | tout >>> 32);
    LONGS.set(to, at + 8, tout << 32 | method);
    LONGS.set(to, at + 16, (long) Writer.NO_SESSION << 32 | trace >>> 32);
    LONGS.set(to, at + 24, trace << 32 | tin >>> 32);
    LONGS.set(to, at + 32, tin << 32 | tout >>> 32);
    LONGS.set(to, at + 40, tout << 32 | Writer.HOST);
    LONGS.set(to, at + 48, (long) eoi << 32 | ess);
    used = at + RECORD_BYTES;
  }

  /** Takes the next chunk; false where none is free and the record is dropped. */
  private boolean goOn() {
    Chunk following = free.poll();
    while (following == null) {
      if (!waits || Probe.writer.hasFailed()) {
        dropped++; // by this thread alone
        chunk.publish(used);
        return false;
      }
      chunk.publish(used);
      Thread.yield();
      following = free.poll();
    }
    chunk.publish(used);
    chunk.followedBy(following);
    chunk = following;
    bytes = following.bytes;
    used = 0;
    return true;
  }

  /** Records that found no room so far. */
  long dropped() {
    return dropped;
  }
}
