package tracetax.floor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A part of a thread's records: its thread appends, the writer sends what has been published. */
final class Chunk {
  private static final VarHandle PUBLISHED;
  private static final VarHandle NEXT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      PUBLISHED = lookup.findVarHandle(Chunk.class, "published", int.class);
      NEXT = lookup.findVarHandle(Chunk.class, "next", Chunk.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  final byte[] bytes;
  private int published;
  private Chunk next;

  Chunk(int size) {
    bytes = new byte[size];
  }

  /** The thread says how many bytes are whole records. */
  void publish(int length) {
    PUBLISHED.setRelease(this, length);
  }

  /** The writer asks. */
  int published() {
    return (int) PUBLISHED.getAcquire(this);
  }

  /** The thread goes on in another chunk, and never comes back to this one. */
  void followedBy(Chunk chunk) {
    NEXT.setRelease(this, chunk);
  }

  /** The chunk in which the thread has gone on, if it has. */
  Chunk next() {
    return (Chunk) NEXT.getAcquire(this);
  }

  /** The writer has sent all of it: it may be taken anew. */
  void empty() {
    published = 0;
    next = null;
  }
}
