package tracetax.floor;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** Weaves one method as its class is loaded, and sends a record of each of its executions. */
public final class FloorAgent {
  private FloorAgent() {}

  /** Called by the JVM before {@code main}. */
  public static void premain(String arguments, Instrumentation instrumentation) {
    Settings settings = new Settings();
    Timeline timeline;
    try {
      timeline = settings.timeline();
    } catch (IllegalStateException refusal) {
      System.err.println("floor: the processor's counter is no clock: " + refusal.getMessage());
      System.exit(1);
      return;
    }
    Writer writer = Writer.started(settings, timeline);
    Probe.writer = writer;
    String internalName = settings.monitoredClass.replace('.', '/');
    instrumentation.addTransformer(
        new ClassFileTransformer() {
          @Override
          public byte[] transform(
              ClassLoader loader,
              String name,
              Class<?> redefined,
              ProtectionDomain domain,
              byte[] bytes) {
            if (!internalName.equals(name)) {
              return null;
            }
            try {
              return Weaver.woven(bytes, settings.monitoredMethod, settings.counts, writer);
            } catch (RuntimeException
                | LinkageError problem) { // the JVM would go on without a word
              System.err.println("floor: " + name + " could not be woven: " + problem);
              return null;
            }
          }
        });
  }
}
