package tracetax.floor;

/** What woven code asks first: who records for its thread. */
public final class Probe {
  static Writer writer;

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
    return RECORDERS.get();
  }
}
