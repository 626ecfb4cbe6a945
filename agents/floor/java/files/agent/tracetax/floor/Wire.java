package tracetax.floor;

import java.nio.ByteBuffer;

/** How records look on the wire: what goes around those that a thread has written. */
interface Wire {
  /** What every stream begins with. */
  ByteBuffer beginning(Timeline timeline);

  /** Tells the name of a method: before the records that refer to its number. */
  ByteBuffer name(int number, String signature);

  /** What goes before so many bytes of a thread's records; null where nothing does. */
  ByteBuffer head(int thread, int bytes);

  /** The number of the first method. */
  int firstMethod();

  /** A recorder that writes such records. */
  Recorder recorder(int thread, boolean waits, Timeline timeline);
}
