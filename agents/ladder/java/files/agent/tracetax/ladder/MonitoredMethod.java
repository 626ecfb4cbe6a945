package tracetax.ladder;

import java.lang.invoke.MethodType;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What woven code knows of its method, as AspectJ's static part of a join point does. */
final class MonitoredMethod {
  private static final List<MonitoredMethod> ALL = new CopyOnWriteArrayList<>();

  final String owner;
  final String name;
  private final String descriptor;
  private final ClassLoader loader;
  private volatile Class<?> declaring;
  private volatile Class<?>[] parameters;

  private MonitoredMethod(String owner, String name, String descriptor, ClassLoader loader) {
    this.owner = owner;
    this.name = name;
    this.descriptor = descriptor;
    this.loader = loader;
  }

  /** The number under which woven code asks for a method. */
  static synchronized int register(
      String owner, String name, String descriptor, ClassLoader loader) {
    ALL.add(new MonitoredMethod(owner, name, descriptor, loader));
    return ALL.size() - 1;
  }

  static MonitoredMethod of(int number) {
    return ALL.get(number);
  }

  /** The class that declares it; found at the first call. */
  Class<?> declaringClass() {
    Class<?> found = declaring;
    if (found == null) {
      try {
        declaring = found = Class.forName(owner, false, loader);
      } catch (ClassNotFoundException impossible) { // its code is running
        throw new IllegalStateException(impossible);
      }
    }
    return found;
  }

  /** A copy of its parameters' types; the types are found at the first call. */
  Class<?>[] parameterTypes() {
    Class<?>[] found = parameters;
    if (found == null) {
      found = MethodType.fromMethodDescriptorString(descriptor, loader).parameterArray();
      parameters = found;
    }
    return found.clone();
  }
}
