package tracetax.floor;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** Sends the records of all threads over one connection. */
final class Writer implements Runnable {
  private static final long SHORTEST_PAUSE_NS = 250_000;
  private static final long LONGEST_PAUSE_NS = 4_000_000;
  private static final int CHUNKS_WITHOUT_PAUSE = Recorder.CHUNKS / 4;
  private static final long END_MS = 10_000;

  private final Wire wire;
  private final SocketChannel connection;
  private final boolean waits;
  private final Timeline timeline;
  private final List<Sent> recorders = new CopyOnWriteArrayList<>();
  private final List<String> signatures = new ArrayList<>();
  private final Thread thread = new Thread(this, "floor-writer");
  private int announced;
  private volatile boolean ends;
  private volatile boolean failed;

  private Writer(Wire wire, SocketChannel connection, Timeline timeline, boolean waits) {
    this.wire = wire;
    this.timeline = timeline;
    this.connection = connection;
    this.waits = waits;
    thread.setDaemon(true);
  }

  /** Connects and begins; what cannot connect drops everything, and says so at the end. */
  static Writer started(Settings settings, Timeline timeline) {
    SocketChannel connection = null;
    try {
      connection = SocketChannel.open(new InetSocketAddress(settings.host, settings.port));
      connection.socket().setTcpNoDelay(true);
    } catch (IOException problem) {
      System.err.println(
          "floor: nobody listens at " + settings.host + ":" + settings.port + ": " + problem);
    }
    Writer writer = new Writer(settings.wire, connection, timeline, settings.waits);
    writer.failed = connection == null;
    if (connection != null) {
      writer.thread.start();
    }
    Runtime.getRuntime().addShutdownHook(new Thread(writer::end, "floor-end"));
    return writer;
  }

  /** A number for a method, by which its records name it. */
  synchronized int register(String signature) {
    signatures.add(signature);
    return wire.firstMethod() + signatures.size() - 1;
  }

  /** A recorder for the thread that asks. */
  synchronized Recorder newRecorder() {
    Recorder recorder = wire.recorder(recorders.size(), waits, timeline);
    recorders.add(new Sent(recorders.size(), recorder));
    return recorder;
  }

  /** A thread waits for a chunk. */
  void wake() {
    LockSupport.unpark(thread);
  }

  boolean hasFailed() {
    return failed;
  }

  @Override
  public void run() {
    try {
      send(wire.beginning(timeline));
      long pauseNs = SHORTEST_PAUSE_NS;
      while (!ends) {
        int chunks = sendAll();
        if (chunks
            > 0) { // a thread is writing fast: the sooner the next, the fewer it has to wait for
          pauseNs = Math.max(pauseNs / 2, SHORTEST_PAUSE_NS);
        } else {
          pauseNs = Math.min(pauseNs * 2, LONGEST_PAUSE_NS);
        }
        if (chunks < CHUNKS_WITHOUT_PAUSE) {
          LockSupport.parkNanos(pauseNs);
        }
      }
      sendAll();
      connection.close();
    } catch (IOException problem) {
      failed = true;
      System.err.println("floor: the connection is lost: " + problem);
    }
  }

  /** Sends what has been published, and how many chunks were sent to their end. */
  private int sendAll() throws IOException {
    int chunks = 0;
    for (Sent sent : recorders) {
      chunks += sendOf(sent);
    }
    return chunks;
  }

  private int sendOf(Sent sent) throws IOException {
    int chunks = 0;
    while (true) {
      Chunk chunk = sent.chunk;
      Chunk next =
          chunk.next(); // asked first: its thread has published the last of this one before
      int length = chunk.published() - sent.reached;
      if (length > 0) {
        announce();
        ByteBuffer head = wire.head(sent.thread, length);
        ByteBuffer records = ByteBuffer.wrap(chunk.bytes, sent.reached, length);
        if (head == null) {
          send(records);
        } else {
          send(head, records);
        }
        sent.reached += length;
      }
      if (next == null) {
        return chunks;
      }
      chunks++;
      chunk.empty();
      sent.recorder.free.add(chunk);
      sent.chunk = next;
      sent.reached = 0;
    }
  }

  /** Sends the names of methods that were woven since: before the records that refer to them. */
  private void announce() throws IOException {
    while (true) {
      String signature;
      synchronized (this) {
        if (announced == signatures.size()) {
          return;
        }
        signature = signatures.get(announced);
      }
      send(wire.name(wire.firstMethod() + announced, signature));
      announced++;
    }
  }

  private void send(ByteBuffer... buffers) throws IOException {
    while (buffers[buffers.length - 1].hasRemaining()) {
      connection.write(buffers);
    }
  }

  /** At the end of the JVM: sends the rest, and says what was dropped. */
  private void end() {
    ends = true;
    wake();
    try {
      thread.join(END_MS);
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
    final int thread;
    final Recorder recorder;
    Chunk chunk;
    int reached;

    Sent(int thread, Recorder recorder) {
      this.thread = thread;
      this.recorder = recorder;
      chunk = recorder.first;
    }
  }
}
