package tracetax.calltree;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** The folder that a trial's results go to. */
final class TrialFolder {
  private static final int BUFFERED_VALUES = 1 << 13;

  private final Path folder;

  TrialFolder(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  /** Writes values as little-endian 64-bit integers. */
  void writeValues(String name, long[] values) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocateDirect(BUFFERED_VALUES * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel file = created(folder.resolve(name))) {
      for (int from = 0; from < values.length; from += BUFFERED_VALUES) {
        int count = Math.min(values.length - from, BUFFERED_VALUES);
        bytes.clear();
        bytes.asLongBuffer().put(values, from, count);
        bytes.limit(count * Long.BYTES);
        writeAll(file, bytes);
      }
    }
  }

  /** Writes a text so that it is there whole or not at all, whatever happens. */
  void writeWhole(String name, String text) throws IOException {
    Path unfinished = folder.resolve(name + ".tmp");
    try (FileChannel file = created(unfinished)) {
      writeAll(file, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
      file.force(true);
    }
    Files.move(unfinished, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    try (FileChannel entries = FileChannel.open(folder, StandardOpenOption.READ)) {
      entries.force(true);
    }
  }

  private static FileChannel created(Path path) throws IOException {
    return FileChannel.open(
        path,
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE);
  }

  private static void writeAll(FileChannel file, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }
}
