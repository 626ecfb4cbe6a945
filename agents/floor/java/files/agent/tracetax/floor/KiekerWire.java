package tracetax.floor;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Kieker's single socket stream: a registry of strings, and records without framing. */
final class KiekerWire implements Wire {
  private static final int METADATA = 0;
  private static final int VERSION = 1;
  private static final int CONTROLLER = 2;
  static final int HOST = 3;
  private static final int TIME_UNIT = 4;
  static final int EXECUTION = 5;
  static final int NO_SESSION = 6;

  private static final String[] STRINGS = {
    "kieker.common.record.misc.KiekerMetadataRecord",
    "2.0.2",
    "tracetax-floor",
    "localhost",
    "NANOSECONDS",
    "kieker.common.record.controlflow.OperationExecutionRecord",
    "<no-session-id>",
  };
  private static final int MOST_BYTES = 1_024;

  @Override
  public ByteBuffer beginning(Timeline timeline) {
    ByteBuffer buffer = ByteBuffer.allocate(MOST_BYTES);
    for (int number = 0; number < STRINGS.length; number++) {
      buffer.put(name(number, STRINGS[number]));
    }
    buffer
        .putInt(METADATA)
        .putLong(timeline.baseEpochNs)
        .putInt(VERSION)
        .putInt(CONTROLLER)
        .putInt(HOST);
    buffer.putInt(1).put((byte) 0).putLong(0).putInt(TIME_UNIT).putLong(0).flip();
    return buffer;
  }

  @Override
  public ByteBuffer name(int number, String signature) {
    byte[] encoded = signature.getBytes(StandardCharsets.UTF_8);
    ByteBuffer buffer = ByteBuffer.allocate(3 * Integer.BYTES + encoded.length);
    buffer.putInt(-1).putInt(number).putInt(signature.length()).put(encoded).flip();
    return buffer;
  }

  @Override
  public ByteBuffer head(int thread, int bytes) {
    return null;
  }

  @Override
  public int firstMethod() {
    return STRINGS.length;
  }

  @Override
  public Recorder recorder(int thread, boolean waits, Timeline timeline) {
    return new KiekerRecorder(thread, waits, timeline);
  }
}
