package tracetax.handlers;

/** What monitored methods call as they begin and end: it hands over to the library. */
public final class Handlers {
  private static int methods;

  static {
    String library = System.getProperty("handlers.library", "");
    try {
      System.load(library);
    } catch (UnsatisfiedLinkError problem) {
      throw new IllegalStateException(
          "handlers: the library " + library + " does not load: " + problem.getMessage(), problem);
    }
    open(
        System.getProperty("handlers.kind", ""),
        System.getProperty("handlers.folder", ""),
        Integer.getInteger("handlers.threads", 1));
    Runtime.getRuntime().addShutdownHook(new Thread(Handlers::close, "handlers-close"));
  }

  private Handlers() {}

  /**
   * Makes a method known.
   *
   * @param method its name with its class and the types of its parameters
   * @return what is logged as one of its executions begins; as it ends, that and one more
   */
  public static synchronized long register(String method) {
    name(methods, method);
    return 2L * methods++;
  }

  /** Logs that an execution begins or ends. */
  public static native void event(long id);

  private static native void open(String kind, String folder, int threads);

  private static native void name(int number, String method);

  private static native void close();
}
