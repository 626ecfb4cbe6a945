package tracetax.kieker;

import javassist.ClassPool;
import javassist.CtClass;
import kieker.monitoring.probe.javassist.MethodInstrumenter;

/**
 * Weaves compiled classes with what Kieker's Javassist agent weaves them with when they are loaded.
 */
public final class JavassistWeaver {
  private JavassistWeaver() {}

  /**
   * Writes woven classes.
   *
   * @param arguments the folder of the classes, the folder for the woven ones, the names of the
   *     classes to weave
   */
  public static void main(String[] arguments) throws Exception {
    ClassPool types = new ClassPool(true);
    types.appendClassPath(arguments[0]);
    MethodInstrumenter instrumenter = new MethodInstrumenter(types);
    for (int i = 2; i < arguments.length; i++) {
      CtClass type = types.get(arguments[i]);
      instrumenter.instrumentAllMethods(type);
      type.writeFile(arguments[1]);
    }
  }
}
