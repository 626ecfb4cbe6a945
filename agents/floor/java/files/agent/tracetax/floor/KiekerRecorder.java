package tracetax.floor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Writes each execution as Kieker's OperationExecutionRecord, 56 bytes. */
final class KiekerRecorder extends Recorder {
  private static final int RECORD_BYTES = 56;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final long epochNs;

  KiekerRecorder(int thread, boolean waits, long epochNs) {
    super(thread, waits);
    this.epochNs = epochNs;
  }

  @Override
  public void exit(int method, int eoi, long start) {
    long end = System.nanoTime();
    int ess = --depth;
    if (used + RECORD_BYTES > CHUNK_BYTES && !goOn()) {
      return;
    }
    write(method, eoi, ess, start + epochNs, end + epochNs);
    if (ess == 0) {
      publish();
    }
  }

  private void write(int method, int eoi, int ess, long tin, long tout) {
    byte[] to = bytes;
    int at = used;
    LONGS.set(to, at, (long) KiekerWire.EXECUTION << 32 | tout >>> 32);
    LONGS.set(to, at + 8, tout << 32 | method);
    LONGS.set(to, at + 16, (long) KiekerWire.NO_SESSION << 32 | trace >>> 32);
    LONGS.set(to, at + 24, trace << 32 | tin >>> 32);
    LONGS.set(to, at + 32, tin << 32 | tout >>> 32);
    LONGS.set(to, at + 40, tout << 32 | KiekerWire.HOST);
    LONGS.set(to, at + 48, (long) eoi << 32 | ess);
    used = at + RECORD_BYTES;
  }
}
