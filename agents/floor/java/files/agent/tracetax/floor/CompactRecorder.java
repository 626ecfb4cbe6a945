package tracetax.floor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Writes four bytes for an execution that is as foreseen: of the same method as the last record,
 * the one around it, or after an outermost one the place of the last whole record, in the next
 * trace. Two bytes say how much later than the last one it started, and two how much later it
 * ended. Any other is written whole, in 40 bytes.
 *
 * <p>Widths are fixed, so that there is one branch, which is always taken the same way.
 */
final class CompactRecorder extends Recorder {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int WHOLE = -1;
  private static final int WHOLE_BYTES = 40;
  private static final int LAST_ROOM = CHUNK_BYTES - WHOLE_BYTES;
  private static final long EARLIEST = 0x4000;
  private static final long TOO_MUCH = ~0x7fffL;
  private static final long NONE = Long.MIN_VALUE;

  private long foreseen = NONE;
  private long lastWhole;
  private long lastStart;
  private long lastEnd;
  private int lastMethod;

  CompactRecorder(int thread, boolean waits) {
    super(thread, waits);
  }

  @Override
  public void exit(int method, long place, long start, long end) {
    long later = start - lastStart + EARLIEST;
    long longer = end - lastEnd;
    int at = used;
    if (place == foreseen
        && method == lastMethod
        && at <= LAST_ROOM
        && ((later | longer) & TOO_MUCH) == 0) {
      INTS.set(bytes, at, (int) (later | longer << 16));
      used = at + Integer.BYTES;
      lastStart = start;
      lastEnd = end;
      foreseen = place - STEP;
    } else {
      writeWhole(method, place, start, end);
    }
    if (leave(place) && foreseen != NONE) {
      foreseen = lastWhole;
    }
  }

  private void writeWhole(int method, long place, long start, long end) {
    if (used > LAST_ROOM && !goOn()) {
      foreseen = NONE; // what the next one is compared with has not been sent
      return;
    }
    byte[] to = bytes;
    int at = used;
    INTS.set(to, at, WHOLE);
    INTS.set(to, at + 4, method);
    LONGS.set(to, at + 8, trace);
    LONGS.set(to, at + 16, place);
    LONGS.set(to, at + 24, start);
    LONGS.set(to, at + 32, end);
    used = at + WHOLE_BYTES;
    lastMethod = method;
    lastStart = start;
    lastEnd = end;
    lastWhole = place;
    foreseen = place - STEP;
  }
}
