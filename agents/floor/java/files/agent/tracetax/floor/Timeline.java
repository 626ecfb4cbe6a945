package tracetax.floor;

/** What a clock's readings mean. */
final class Timeline {
  final long base;
  final long baseEpochNs;
  final double nsPerReading;
  private final int shift;
  private final long scale;

  /** At the reading {@code base} it was {@code baseEpochNs} since 1970. */
  Timeline(long base, long baseEpochNs, double nsPerReading) {
    this.base = base;
    this.baseEpochNs = baseEpochNs;
    this.nsPerReading = nsPerReading;
    shift = 3 + Math.max(0, Math.getExponent(nsPerReading));
    scale = (long) (nsPerReading * 0x1p62 / (1L << shift - 2));
  }

  /** That of {@code System.nanoTime()}. */
  static Timeline ofNanoTime() {
    long now = System.nanoTime();
    return new Timeline(now, System.currentTimeMillis() * 1_000_000, 1);
  }

  /** Nanoseconds since 1970, by one multiplication; good for the next 24 days and more. */
  long epochNs(long reading) {
    return baseEpochNs + Math.multiplyHigh(reading - base << shift, scale);
  }
}
