package tracetax.ladder;

/** Makes records of what the general probe saw. */
interface Collector {
  void traceBegins(Trace trace);

  void before(Execution execution);

  void after(Execution execution);

  void failed(Execution execution, Throwable cause);

  /** As the settings say. */
  static Collector of(Settings settings, Controller controller, Writer writer) {
    if (settings.flat) {
      return settings.pairs
          ? new FlatEvents(controller, writer)
          : new FlatExecutions(controller, writer);
    }
    return settings.pairs ? new ObjectEvents(controller) : new ObjectExecutions(controller);
  }
}
