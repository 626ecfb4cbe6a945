package tracetax.floor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A stream of frames: a kind, a number (of a thread, or of a method), a length, and so many bytes.
 * One tells what readings of the clock mean: a reading, when that was, and its nanoseconds.
 */
final class CompactWire implements Wire {
  private static final byte[] MAGIC = {'T', 'T', 'F', '1'};
  private static final int LONGEST_NUMBER = 5;
  private static final int TIME_BYTES = 24;

  @Override
  public ByteBuffer beginning(Timeline timeline) {
    ByteBuffer buffer = ByteBuffer.allocate(MAGIC.length + 1 + 2 * LONGEST_NUMBER + TIME_BYTES);
    frame(buffer.put(MAGIC), 'T', 0, TIME_BYTES);
    buffer.order(ByteOrder.LITTLE_ENDIAN).putLong(timeline.base).putLong(timeline.baseEpochNs);
    buffer.putDouble(timeline.nsPerReading).flip();
    return buffer;
  }

  @Override
  public ByteBuffer name(int number, String signature) {
    byte[] encoded = signature.getBytes(StandardCharsets.UTF_8);
    ByteBuffer buffer = ByteBuffer.allocate(1 + 2 * LONGEST_NUMBER + encoded.length);
    frame(buffer, 'M', number, encoded.length);
    buffer.put(encoded).flip();
    return buffer;
  }

  @Override
  public ByteBuffer head(int thread, int bytes) {
    ByteBuffer buffer = ByteBuffer.allocate(1 + 2 * LONGEST_NUMBER);
    frame(buffer, 'R', thread, bytes);
    buffer.flip();
    return buffer;
  }

  private static void frame(ByteBuffer to, char kind, int number, int length) {
    to.put((byte) kind);
    number(to, number);
    number(to, length);
  }

  private static void number(ByteBuffer to, int value) {
    for (; value >= 0x80; value >>>= 7) {
      to.put((byte) (value | 0x80));
    }
    to.put((byte) value);
  }

  @Override
  public int firstMethod() {
    return 0;
  }

  @Override
  public Recorder recorder(int thread, boolean waits, Timeline timeline) {
    return new CompactRecorder(thread, waits);
  }
}
