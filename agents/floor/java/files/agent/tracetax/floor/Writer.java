package tracetax.floor;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** Sends the records of all threads over one connection, as a consumer of Kieker's single socket stream expects them. */
final class Writer implements Runnable {
  /** Numbers of the strings that every stream begins with. */
  static final int METADATA = 0;

  static final int VERSION = 1;
  static final int CONTROLLER = 2;
  static final int HOST = 3;
  static final int TIME_UNIT = 4;
  static final int EXECUTION = 5;
  static final int NO_SESSION = 6;

  private static final String[] STRINGS = {
    "kieker.common.record.misc.KiekerMetadataRecord",
    "2.0.2",
    "tracetax-floor",
    "localhost",
    "NANOSECONDS",
    "kieker.common.record.controlflow.OperationExecutionRecord",
    "<no-session-id>",
  };
  private static final int METADATA_BYTES = 12 + 37;
  private static final int REGISTRY_HEAD = 12;
  private static final long PAUSE_NS = 1_000_000;

  private final SocketChannel connection;
  private final boolean waits;
  private final long epochNs = System.currentTimeMillis() * 1_000_000 - System.nanoTime();
  private final List<Sent> recorders = new CopyOnWriteArrayList<>();
  private final List<String> signatures = new ArrayList<>();
  private final Thread thread = new Thread(this, "floor-writer");
  private int announced;
  private volatile boolean ends;
  private volatile boolean failed;

  private Writer(SocketChannel connection, boolean waits) {
    this.connection = connection;
    this.waits = waits;
    thread.setDaemon(true);
  }

  /** Connects and begins; what cannot connect drops everything, and says so at the end. */
  static Writer started(Settings settings) {
    SocketChannel connection = null;
    try {
      connection = SocketChannel.open(new InetSocketAddress(settings.host, settings.port));
      connection.socket().setTcpNoDelay(true);
    } catch (IOException problem) {
      System.err.println("floor: nobody listens at " + settings.host + ":" + settings.port + ": " + problem);
    }
    Writer writer = new Writer(connection, settings.waits);
    writer.failed = connection == null;
    if (!writer.failed) {
      writer.begin();
    }
    Runtime.getRuntime().addShutdownHook(new Thread(writer::end, "floor-end"));
    return writer;
  }

  private void begin() {
    try {
      for (int number = 0; number < STRINGS.length; number++) {
        send(registration(number, STRINGS[number]));
      }
      ByteBuffer metadata = ByteBuffer.allocate(METADATA_BYTES);
      metadata.putInt(METADATA).putLong(System.nanoTime() + epochNs).putInt(VERSION).putInt(CONTROLLER).putInt(HOST);
      metadata.putInt(1).put((byte) 0).putLong(0).putInt(TIME_UNIT).putLong(0).flip();
      send(metadata);
    } catch (IOException problem) {
      fail(problem);
    }
    thread.start();
  }

  /** A number for a method, by which its records name it. */
  synchronized int register(String signature) {
    signatures.add(signature);
    return STRINGS.length + signatures.size() - 1;
  }

  /** A recorder for the thread that asks. */
  synchronized Recorder newRecorder() {
    Recorder recorder = new Recorder(recorders.size() + 1, waits, epochNs);
    recorders.add(new Sent(recorder));
    return recorder;
  }

  boolean hasFailed() {
    return failed;
  }

  @Override
  public void run() {
    try {
      while (!ends) {
        if (!sendAll()) {
          LockSupport.parkNanos(PAUSE_NS);
        }
      }
      while (sendAll()) {}
      connection.close();
    } catch (IOException problem) {
      fail(problem);
    }
  }

  /** Sends what has been published; whether there was anything. */
  private boolean sendAll() throws IOException {
    boolean any = false;
    for (Sent sent : recorders) {
      any |= sendOf(sent);
    }
    return any;
  }

  private boolean sendOf(Sent sent) throws IOException {
    boolean any = false;
    while (true) {
      Chunk chunk = sent.chunk;
      Chunk next = chunk.next(); // asked first: what follows has been published before it
      int until = chunk.published();
      if (until > sent.reached) {
        announce();
        send(ByteBuffer.wrap(chunk.bytes, sent.reached, until - sent.reached));
        sent.reached = until;
        any = true;
      }
      if (next == null) {
        return any;
      }
      chunk.empty();
      sent.recorder.free.add(chunk);
      sent.chunk = next;
      sent.reached = 0;
    }
  }

  /** Sends the names of methods that were woven since: before the records that name them. */
  private void announce() throws IOException {
    while (true) {
      String signature;
      synchronized (this) {
        if (announced == signatures.size()) {
          return;
        }
        signature = signatures.get(announced);
      }
      send(registration(STRINGS.length + announced, signature));
      announced++;
    }
  }

  private static ByteBuffer registration(int number, String text) {
    byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer buffer = ByteBuffer.allocate(REGISTRY_HEAD + encoded.length);
    buffer.putInt(-1).putInt(number).putInt(text.length()).put(encoded).flip();
    return buffer;
  }

  private void send(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      connection.write(buffer);
    }
  }

  private void fail(IOException problem) {
    failed = true;
    System.err.println("floor: the connection is lost: " + problem);
  }

  /** At the end of the JVM: sends the rest, and says what was dropped. */
  private void end() {
    ends = true;
    try {
      thread.join(10_000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    long dropped = 0;
    for (Sent sent : recorders) {
      dropped += sent.recorder.dropped();
    }
    if (dropped > 0) {
      System.err.println("floor: dropped " + dropped + " records");
    }
  }

  /** How far the writer has come with a recorder. */
  private static final class Sent {
    final Recorder recorder;
    Chunk chunk;
    int reached;

    Sent(Recorder recorder) {
      this.recorder = recorder;
      chunk = recorder.first;
    }
  }
}
