package tracetax.calltree;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** The JVM's diagnostic commands, as a platform bean offers them. */
final class Diagnostics {
  private Diagnostics() {}

  /** Runs a command without arguments; null if this JVM does not have it. */
  static String run(String command) {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  command,
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
    } catch (JMException e) {
      return null;
    }
  }
}
