package tracetax.floor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Writes each execution as Kieker's OperationExecutionRecord, 56 bytes. */
final class KiekerRecorder extends Recorder {
  private static final int RECORD_BYTES = 56;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final Timeline timeline;

  KiekerRecorder(int thread, boolean waits, Timeline timeline) {
    super(thread, waits);
    this.timeline = timeline;
  }

  @Override
  public void exit(int method, long place, long start, long end) {
    if (used <= CHUNK_BYTES - RECORD_BYTES || goOn()) {
      write(method, place, timeline.epochNs(start), timeline.epochNs(end));
    }
    leave(place);
  }

  private void write(int method, long eoiAndEss, long tin, long tout) {
    byte[] to = bytes;
    int at = used;
    LONGS.set(to, at, (long) KiekerWire.EXECUTION << 32 | tout >>> 32);
    LONGS.set(to, at + 8, tout << 32 | method);
    LONGS.set(to, at + 16, (long) KiekerWire.NO_SESSION << 32 | trace >>> 32);
    LONGS.set(to, at + 24, trace << 32 | tin >>> 32);
    LONGS.set(to, at + 32, tin << 32 | tout >>> 32);
    LONGS.set(to, at + 40, tout << 32 | KiekerWire.HOST);
    LONGS.set(to, at + 48, eoiAndEss);
    used = at + RECORD_BYTES;
  }
}
