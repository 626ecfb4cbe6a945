package tracetax.floor;

/**
 * Writes what an execution has else than the one before it that ended in this thread: a byte that
 * says what follows, and numbers in bytes of seven bits. In a chain of calls that return one after
 * the other that makes three bytes.
 */
final class CompactRecorder extends Recorder {
  private static final int NEXT_TRACE = 1;
  private static final int OTHER_TRACE = 2;
  private static final int OTHER_METHOD = 4;
  private static final int OTHER_PLACE = 8;
  private static final int STARTS_LATER = 16;

  /** The first byte, and six numbers. */
  private static final int LONGEST_RECORD = 1 + 6 * 10;

  private long lastTrace;
  private long lastStart;
  private long lastEnd;
  private int lastMethod;
  private int lastOrder;
  private int lastDepth;

  CompactRecorder(int thread, boolean waits) {
    super(thread, waits);
    lastTrace = trace;
  }

  @Override
  public void exit(int method, int order, long start) {
    long end = System.nanoTime();
    int ends = --depth;
    if (used + LONGEST_RECORD > CHUNK_BYTES && !goOn()) {
      return;
    }
    write(method, order, ends, start, end);
    if (ends == 0) {
      publish();
    }
  }

  private void write(int method, int order, int ends, long start, long end) {
    byte[] to = bytes;
    int head = used;
    int at = head + 1;
    int what = 0;
    long traces = trace - lastTrace;
    if (traces != 0) {
      lastTrace = trace;
      if (traces == 1) {
        what = NEXT_TRACE;
      } else {
        what = OTHER_TRACE;
        at = number(to, at, traces);
      }
    }
    if (method != lastMethod) {
      lastMethod = method;
      what |= OTHER_METHOD;
      at = number(to, at, method);
    }
    if (order != lastOrder - 1 || ends != lastDepth - 1) {
      what |= OTHER_PLACE;
      at = number(to, number(to, at, order), ends);
    }
    lastOrder = order;
    lastDepth = ends;
    long later = start - lastStart;
    lastStart = start;
    if (later >= 0) {
      what |= STARTS_LATER;
      at = number(to, at, later);
    } else {
      at = number(to, at, -later);
    }
    at = number(to, at, end - lastEnd);
    lastEnd = end;
    to[head] = (byte) what;
    used = at;
  }

  private static int number(byte[] to, int at, long value) {
    while ((value & ~0x7fL) != 0) {
      to[at++] = (byte) (value | 0x80);
      value >>>= 7;
    }
    to[at++] = (byte) value;
    return at;
  }
}
