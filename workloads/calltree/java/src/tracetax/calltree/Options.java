package tracetax.calltree;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The parameters of one trial, as given on the command line. */
final class Options {
  private static final String USAGE =
      "usage: --calls N --depth D --method-time-ns NS --threads T --rate full|CALLS_PER_SECOND"
          + " --wait spin|park --start-up CLASS --out DIR --status FILE";

  private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

  final long calls;
  final int depth;
  final long methodTimeNs;
  final int threads;

  /** Calls per second, all threads together; infinite for a closed loop. */
  final double rate;

  final Wait wait;

  /** A class that is run once when the program starts; empty for none. */
  final String startUp;

  final Path out;
  final Path status;

  private Options(Map<String, String> given) {
    calls = whole(given, "--calls", null, 1, Long.MAX_VALUE);
    depth = (int) whole(given, "--depth", null, 1, Integer.MAX_VALUE);
    methodTimeNs = whole(given, "--method-time-ns", "0", 0, Long.MAX_VALUE);
    threads = (int) whole(given, "--threads", "1", 1, 4096);
    rate = rate(take(given, "--rate", "full"));
    wait = wait(take(given, "--wait", "spin"));
    startUp = take(given, "--start-up", "");
    out = Paths.get(take(given, "--out", null));
    status = Paths.get(take(given, "--status", null));
    if (!given.isEmpty()) {
      throw wrong("unknown option " + given.keySet().iterator().next());
    }
    if (shareOf(calls, 0) > LONGEST_ARRAY) {
      throw wrong("--calls " + calls + ": more than one thread's array can hold");
    }
  }

  /**
   * Reads options given as name and value in turn.
   *
   * @throws IllegalArgumentException if one is unknown, missing or has no sense
   */
  static Options parse(String[] arguments) {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i < arguments.length; i += 2) {
      if (i + 1 == arguments.length) {
        throw wrong("option " + arguments[i] + " has no value");
      }
      given.put(arguments[i], arguments[i + 1]);
    }
    return new Options(given);
  }

  boolean paced() {
    return rate != Double.POSITIVE_INFINITY;
  }

  /**
   * The part of {@code total} calls that falls to a thread: equal parts, the remainder one each to
   * the first threads.
   */
  long shareOf(long total, int thread) {
    return total / threads + (thread < total % threads ? 1 : 0);
  }

  private static String take(Map<String, String> given, String name, String otherwise) {
    String value = given.remove(name);
    if (value == null && otherwise == null) {
      throw wrong("option " + name + " is missing");
    }
    return value == null ? otherwise : value;
  }

  private static long whole(
      Map<String, String> given, String name, String otherwise, long least, long most) {
    String value = take(given, name, otherwise);
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below, as for a number out of range
    }
    throw wrong(name + " " + value + ": not a whole number from " + least + " to " + most);
  }

  private static double rate(String value) {
    if (value.equals("full")) {
      return Double.POSITIVE_INFINITY;
    }
    try {
      double rate = Double.parseDouble(value);
      if (rate > 0 && rate <= 1e9) {
        return rate;
      }
    } catch (NumberFormatException e) {
      // said below, as for a rate out of range
    }
    throw wrong("--rate " + value + ": neither 'full' nor calls per second up to 1e9");
  }

  private static Wait wait(String value) {
    for (Wait wait : Wait.values()) {
      if (wait.name().toLowerCase(Locale.ROOT).equals(value)) {
        return wait;
      }
    }
    throw wrong("--wait " + value + ": neither 'spin' nor 'park'");
  }

  private static IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException(what + System.lineSeparator() + USAGE);
  }
}
