package tracetax.ladder;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Takes what probes make. Its thread sends that as Kieker's single socket stream. */
final class Writer implements Runnable {
  /** Records, or buffers, that wait at most. */
  private static final int RECORDS = 16_384;

  private static final int BUFFERS = 16;
  private static final long END_MS = 10_000;
  private static final Object END = new Object();

  private static final String METADATA = "kieker.common.record.misc.KiekerMetadataRecord";
  private static final String VERSION = "1.8";
  private static final String NAME = "tracetax-ladder";
  private static final String TIME_UNIT = "NANOSECONDS";

  /** Where a record is lost on purpose: it was made, for anyone could look at it. */
  static Object latest;

  final Registry registry = new Registry();
  final Buffers buffers = new Buffers(this);
  private final Settings settings;
  private final Settings.Layer layer;
  private final Handover handover;
  private final Thread thread = new Thread(this, "ladder-writer");
  private final ByteBuffer out = ByteBuffer.allocateDirect(Buffers.BYTES);
  private final boolean byTypes;
  private SocketChannel connection;
  private int announced;
  private boolean ends;
  private boolean failed;

  private Writer(Settings settings) {
    this.settings = settings;
    this.layer = settings.layer;
    handover = Handover.of(settings.handover, settings.flat ? BUFFERS : RECORDS);
    byTypes = !settings.cached;
    thread.setDaemon(true);
  }

  /** Connects where records are to be sent, and begins. */
  static Writer started(Settings settings) {
    Writer writer = new Writer(settings);
    if (writer.layer == Settings.Layer.written) {
      writer.connect();
    }
    if (writer.layer == Settings.Layer.written || writer.layer == Settings.Layer.queued) {
      writer.thread.start();
      Runtime.getRuntime().addShutdownHook(new Thread(writer::end, "ladder-end"));
    }
    return writer;
  }

  private void connect() {
    String host = Settings.required("host");
    int port = Integer.parseInt(Settings.required("port"));
    try {
      connection = SocketChannel.open(new InetSocketAddress(host, port));
      registry.get(METADATA); // the first string: by it a consumer knows the stream
      metadata();
    } catch (IOException problem) {
      failed = true;
      System.err.println("ladder: nobody listens at " + host + ":" + port + ": " + problem);
    }
  }

  /** By any thread: a record that is an object, or a buffer of records. */
  void take(Object item) {
    if (layer == Settings.Layer.collected) {
      discard(item);
    } else {
      handover.put(item);
    }
  }

  private void discard(Object item) {
    if (item instanceof ByteBuffer) {
      buffers.giveBack((ByteBuffer) item);
    } else {
      latest = item;
    }
  }

  @Override
  public void run() {
    try {
      while (!ends) {
        handover.await(this::consume);
      }
      while (handover.poll(this::consume)) {
        Thread.onSpinWait();
      }
      if (connection != null && !failed) {
        flush();
        connection.close();
      }
    } catch (IOException problem) {
      System.err.println("ladder: the connection is lost: " + problem);
    } catch (InterruptedException stopped) { // by nobody of ours
      Thread.currentThread().interrupt();
    }
  }

  private void consume(Object item) {
    if (item == END) {
      ends = true;
      return;
    }
    if (failed || layer == Settings.Layer.queued) {
      discard(item);
      return;
    }
    try {
      if (item instanceof ByteBuffer) {
        announce();
        send((ByteBuffer) item);
        buffers.giveBack((ByteBuffer) item);
      } else {
        write((Record) item);
      }
    } catch (IOException problem) {
      failed = true;
      System.err.println("ladder: the connection is lost, and what follows with it: " + problem);
    }
  }

  private void write(Record record) throws IOException {
    if (Record.HEAD_BYTES + record.size() > out.remaining()) {
      flush();
    }
    int begin = out.position();
    out.putInt(registry.get(record.kind())).putLong(record.loggingTime());
    if (byTypes) {
      byTypes(record);
    } else {
      record.write(out, registry);
    }
    if (announced < registry.size()) { // its strings go before it
      byte[] bytes = new byte[out.position() - begin];
      out.position(begin);
      out.duplicate().get(bytes);
      flush();
      announce();
      out.put(bytes);
    }
  }

  /**
   * The form before PT1: a record's values and types are copied into arrays, and looked through.
   */
  private void byTypes(Record record) {
    Class<?>[] types = record.valueTypes();
    Object[] values = record.values();
    for (int place = 0; place < types.length; place++) {
      if (types[place] == long.class) {
        out.putLong((Long) values[place]);
      } else if (types[place] == int.class) {
        out.putInt((Integer) values[place]);
      } else {
        out.putInt(registry.get((String) values[place]));
      }
    }
  }

  /** Says what the stream is. */
  private void metadata() throws IOException {
    out.putInt(registry.get(METADATA)).putLong(TimeSource.Nanos.EPOCH_NS + System.nanoTime());
    out.putInt(registry.get(VERSION)).putInt(registry.get(NAME)).putInt(registry.get(Record.HOST));
    out.putInt(1).put((byte) 0).putLong(0).putInt(registry.get(TIME_UNIT)).putLong(0);
    announce();
    flush();
  }

  /** Sends strings that have got a number since: before the records that refer to them. */
  private void announce() throws IOException {
    for (; announced < registry.size(); announced++) {
      String text = registry.string(announced);
      byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
      ByteBuffer entry = ByteBuffer.allocate(3 * Integer.BYTES + encoded.length);
      entry.putInt(-1).putInt(announced).putInt(text.length()).put(encoded).flip();
      send(entry);
    }
  }

  private void flush() throws IOException {
    out.flip();
    send(out);
    out.clear();
  }

  private void send(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      connection.write(buffer);
    }
  }

  /** At the end of the JVM: sends the rest. */
  private void end() {
    if (settings.flat) {
      buffers.close();
    }
    handover.put(END);
    try {
      thread.join(END_MS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
