package tracetax.ladder;

/** What the agent is told, by system properties that begin with {@code ladder.}. */
final class Settings {
  final String monitoredClass = required("class");
  final String monitoredMethod = required("method");

  /**
   * Where records end: at the probe that is switched off, before the queue, behind it, or sent over
   * TCP.
   */
  final Layer layer =
      Layer.valueOf(oneOf("layer", "written", "deactivated", "collected", "queued"));

  /** PT1: whether what is known of a method is looked up once. */
  final boolean cached = oneOf("cache", "none", "once").equals("once");

  /** PT2: how a record gets to the writer. */
  final String handover = oneOf("handover", "array", "linked", "disruptor", "mpsc", "thread");

  /** PT3: whether a record is bytes from the beginning. */
  final boolean flat = oneOf("records", "objects", "flat").equals("flat");

  /** PT4: whether the probe is the one without interfaces, checks and choices. */
  final boolean minimal = oneOf("code", "general", "minimal").equals("minimal");

  /** Whether an execution is two events, and a trace a record more; or one record. */
  final boolean pairs = oneOf("events", "pairs", "executions").equals("pairs");

  /** Where a record ends. */
  enum Layer {
    deactivated,
    collected,
    queued,
    written
  }

  static String required(String key) {
    String value = System.getProperty("ladder." + key);
    if (value == null) {
      throw new IllegalArgumentException("ladder." + key + " is missing");
    }
    return value;
  }

  /** A choice; the first where none was made. */
  private static String oneOf(String key, String... choices) {
    String value = System.getProperty("ladder." + key, choices[0]);
    for (String choice : choices) {
      if (choice.equals(value)) {
        return value;
      }
    }
    throw new IllegalArgumentException(
        "ladder." + key + "=" + value + ": none of " + String.join(", ", choices));
  }
}
