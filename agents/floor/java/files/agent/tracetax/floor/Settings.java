package tracetax.floor;

/** What the agent is told, by system properties that begin with {@code floor.}. */
final class Settings {
  final String monitoredClass = required("class");
  final String monitoredMethod = required("method");
  final String host = required("host");
  final int port = Integer.parseInt(required("port"));

  /**
   * Whether a thread whose buffers are all full waits; otherwise its records are dropped, and
   * counted.
   */
  final boolean waits = oneOf("full", "wait", "drop").equals("wait");

  /** How records look on the wire. */
  final Wire wire =
      oneOf("wire", "compact", "kieker").equals("compact") ? new CompactWire() : new KiekerWire();

  /** What is read for start and end. */
  final boolean counts = oneOf("clock", "nanotime", "counter").equals("counter");

  /** What its readings mean. */
  Timeline timeline() {
    return counts ? Counter.calibrated(required("library")) : Timeline.ofNanoTime();
  }

  private static String required(String key) {
    String value = System.getProperty("floor." + key);
    if (value == null) {
      throw new IllegalArgumentException("floor." + key + " is missing");
    }
    return value;
  }

  /** A choice; the first where none was made. */
  private static String oneOf(String key, String... choices) {
    String value = System.getProperty("floor." + key, choices[0]);
    for (String choice : choices) {
      if (choice.equals(value)) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        "floor." + key + "=" + value + ": none of " + String.join(", ", choices));
  }
}
