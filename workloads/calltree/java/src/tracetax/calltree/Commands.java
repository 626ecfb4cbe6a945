package tracetax.calltree;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Reads commands, one per line, in a thread of its own, so that the end of the input is seen at
 * once.
 */
final class Commands extends Thread {
  /** Stands for the end of the input. */
  static final String END = "";

  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final InputStream input;
  private final Stop stop;

  Commands(InputStream input, Stop stop) {
    super("commands");
    this.input = input;
    this.stop = stop;
    setDaemon(true);
  }

  /** Waits for the next command; {@link #END} when there will be none. */
  String next() throws InterruptedException {
    return lines.take();
  }

  @Override
  public void run() {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        if (!line.trim().isEmpty()) {
          lines.add(line.trim());
        }
      }
    } catch (IOException e) {
      // an input that cannot be read has ended
    }
    stop.request();
    lines.add(END);
  }
}
