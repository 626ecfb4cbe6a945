package tracetax.floor;

/** What woven code asks first: who records for its thread. */
public final class Probe {
  static Writer writer;

  private static final int SLOTS = 1 << 10;

  /**
   * The latest recorder of the threads that share a place, by their ids: cheaper than a look into a
   * ThreadLocal.
   */
  private static final Recorder[] LATEST = new Recorder[SLOTS];

  private static final ThreadLocal<Recorder> RECORDERS =
      new ThreadLocal<Recorder>() {
        @Override
        protected Recorder initialValue() {
          return writer.newRecorder();
        }
      };

  private Probe() {}

  /** The recorder of this thread. */
  public static Recorder recorder() {
    Thread thread = Thread.currentThread();
    Recorder latest = LATEST[place(thread)];
    return latest != null && latest.owner == thread ? latest : slowly(thread);
  }

  private static Recorder slowly(Thread thread) {
    Recorder recorder = RECORDERS.get();
    LATEST[place(thread)] = recorder;
    return recorder;
  }

  private static int place(Thread thread) {
    return (int) thread.getId() & SLOTS - 1;
  }
}
