package tracetax.ladder;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/** PT3: each thread writes its records into a buffer of its own, which is handed over when full. */
final class Buffers {
  /** As many as Kieker's writer collects before it sends. */
  static final int BYTES = 65_535;

  private final Writer writer;
  private final List<Own> all = new CopyOnWriteArrayList<>();
  private final Queue<ByteBuffer> free = new ConcurrentLinkedQueue<>();
  private final ThreadLocal<Own> own =
      ThreadLocal.withInitial(
          () -> {
            Own mine = new Own();
            all.add(mine);
            return mine;
          });

  Buffers(Writer writer) {
    this.writer = writer;
  }

  /** That of this thread. */
  Own own() {
    return own.get();
  }

  /** The writer has done with a buffer. */
  void giveBack(ByteBuffer buffer) {
    buffer.clear();
    free.add(buffer);
  }

  /** At the end: hands over the whole traces of all threads; what follows is lost. */
  void close() {
    for (Own each : all) {
      each.close();
    }
  }

  /** The buffer of one thread. */
  final class Own {
    private ByteBuffer buffer = ByteBuffer.allocate(BYTES);
    private volatile int whole;
    private boolean closed;

    /** A buffer in which a record has room, its class and logging time included. */
    ByteBuffer room(int bytes) {
      if (buffer.remaining() < bytes) {
        turn();
      }
      return buffer;
    }

    /** A trace has ended: its records may be sent. */
    void traceEnded() {
      WHOLE.setRelease(this, buffer.position());
    }

    private synchronized void turn() {
      if (closed) {
        buffer.clear();
        return;
      }
      buffer.flip();
      writer.take(buffer);
      whole = 0;
      ByteBuffer next = free.poll();
      buffer = next != null ? next : ByteBuffer.allocate(BYTES);
    }

    private synchronized void close() {
      closed = true;
      ByteBuffer rest = ByteBuffer.wrap(buffer.array().clone(), 0, whole);
      if (rest.hasRemaining()) {
        writer.take(rest);
      }
    }
  }

  private static final java.lang.invoke.VarHandle WHOLE;

  static {
    try {
      WHOLE = java.lang.invoke.MethodHandles.lookup().findVarHandle(Own.class, "whole", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }
}
