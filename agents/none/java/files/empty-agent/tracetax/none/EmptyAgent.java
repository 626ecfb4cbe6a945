package tracetax.none;

/** A Java agent that does nothing: what the JVM itself spends on having one. */
public final class EmptyAgent {
  private EmptyAgent() {}

  /** Called by the JVM before {@code main}; registers no transformer. */
  public static void premain(String arguments) {}
}
