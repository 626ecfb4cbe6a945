package tracetax.calltree;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Events for the runner, one line each: {@code name monotonic_ns text}. */
final class StatusLog implements AutoCloseable {
  private final FileOutputStream file;

  StatusLog(Path path) throws IOException {
    file = new FileOutputStream(path.toFile(), true);
  }

  /** Appends an event of now. */
  void event(String name, String text) throws IOException {
    event(name, System.nanoTime(), text);
  }

  /**
   * Appends an event of {@code monotonicNs} in one write; line breaks in the text become spaces.
   */
  void event(String name, long monotonicNs, String text) throws IOException {
    String line = (name + " " + monotonicNs + " " + text).replaceAll("\\s+", " ").trim() + "\n";
    file.write(line.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
