package tracetax.calltree;

/**
 * How far the JVM has compiled the driver's chunk and the monitored method, and how that is known.
 */
final class Warmth {
  /** The tier of code that is compiled as well as HotSpot can. */
  static final int TOP_TIER = 4;

  final int driver;
  final int method;
  final String how;

  Warmth(int driver, int method, String how) {
    this.driver = driver;
    this.method = method;
    this.how = how;
  }
}
