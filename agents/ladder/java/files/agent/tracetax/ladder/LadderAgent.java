package tracetax.ladder;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** Weaves one method as its class is loaded; its probe is the general or the minimal one. */
public final class LadderAgent {
  static Settings settings;
  static Writer writer;

  private LadderAgent() {}

  /** Called by the JVM before {@code main}. */
  public static void premain(String arguments, Instrumentation instrumentation) {
    settings = new Settings();
    writer = Writer.started(settings);
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
              return Weaver.woven(bytes, settings.monitoredMethod, loader, settings.minimal);
            } catch (RuntimeException
                | LinkageError problem) { // the JVM would go on without a word
              System.err.println("ladder: " + name + " could not be woven: " + problem);
              return null;
            }
          }
        });
  }
}
