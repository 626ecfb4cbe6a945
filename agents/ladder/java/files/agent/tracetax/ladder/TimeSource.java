package tracetax.ladder;

/** Tells the time for records. */
interface TimeSource {
  /** Nanoseconds since 1970. */
  long now();

  /** By {@code System.nanoTime()}. */
  final class Nanos implements TimeSource {
    static final long EPOCH_NS = System.currentTimeMillis() * 1_000_000 - System.nanoTime();

    @Override
    public long now() {
      return System.nanoTime() + EPOCH_NS;
    }
  }
}
