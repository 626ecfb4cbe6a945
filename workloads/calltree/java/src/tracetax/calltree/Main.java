package tracetax.calltree;

import java.io.IOException;

/**
 * The call tree workload: makes calls as its standard input commands, and leaves samples and {@code
 * trial.json}.
 */
public final class Main {
  private Main() {}

  /**
   * Runs until standard input ends, then returns, so that the JVM ends the ordinary way.
   *
   * @throws Exception if anything fails, which the JVM turns into exit code 1
   */
  public static void main(String[] arguments) throws Exception {
    long beginNs = System.nanoTime();
    Thread.currentThread().setUncaughtExceptionHandler(new Complaint());
    Options options = Options.parse(arguments);
    try (StatusLog status = new StatusLog(options.status)) {
      status.event("main", beginNs, "");
      try {
        run(options, status);
      } catch (Exception | Error e) {
        status.event("error", e.toString());
        throw e;
      }
    }
  }

  private static void run(Options options, StatusLog status)
      throws IOException, InterruptedException, ReflectiveOperationException {
    Snapshot main = Snapshot.take();
    if (!options.startUp.isEmpty()) {
      startUp(options.startUp);
    }
    Stop stop = new Stop();
    Commands commands = new Commands(System.in, stop);
    Trial trial = new Trial(options, status, stop, main);
    commands.start();
    for (String line = commands.next(); !line.equals(Commands.END); line = commands.next()) {
      obey(trial, line);
    }
  }

  /** Does what a larger program does when it starts: loads its classes and calls their methods. */
  private static void startUp(String name) throws ReflectiveOperationException {
    ((Runnable) Class.forName(name).getDeclaredConstructor().newInstance()).run();
  }

  private static void obey(Trial trial, String line) throws IOException, InterruptedException {
    String[] words = line.split(" +");
    if (words.length == 2 && words[0].equals("warm-up") && words[1].matches("[1-9][0-9]{0,17}")) {
      trial.warmUp(Long.parseLong(words[1]));
    } else if (line.equals("measure")) {
      trial.measure();
    } else if (line.equals("drained")) {
      trial.drained();
    } else {
      throw new IllegalArgumentException(
          "command '" + line + "': not one of 'warm-up N', 'measure', 'drained'");
    }
  }

  /**
   * Says in words what was wrong with options or commands, and everything else with its stack
   * trace.
   */
  private static final class Complaint implements Thread.UncaughtExceptionHandler {
    @Override
    public void uncaughtException(Thread thread, Throwable e) {
      if (e instanceof IllegalArgumentException) {
        System.err.println("calltree: " + e.getMessage());
      } else {
        e.printStackTrace();
      }
    }
  }
}
