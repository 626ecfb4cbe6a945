package tracetax.ladder;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Says what a method is called in records. */
interface Signatures {
  String of(MonitoredMethod method);

  /** The form before PT1: the method is looked up by reflection, and its signature built anew. */
  final class Built implements Signatures {
    private static final int LONG_ENOUGH = 256;

    @Override
    public String of(MonitoredMethod method) {
      Method found;
      try {
        found = method.declaringClass().getDeclaredMethod(method.name, method.parameterTypes());
      } catch (NoSuchMethodException impossible) { // its code is running
        throw new IllegalStateException(impossible);
      }
      StringBuilder text = new StringBuilder(LONG_ENOUGH);
      String modifiers = Modifier.toString(found.getModifiers());
      text.append(modifiers);
      if (!modifiers.isEmpty()) {
        text.append(' ');
      }
      append(text, found.getReturnType());
      text.append(' ').append(found.getDeclaringClass().getName());
      text.append('.').append(found.getName()).append('(');
      String between = "";
      for (Class<?> type : found.getParameterTypes()) {
        text.append(between);
        append(text, type);
        between = ", ";
      }
      return text.append(')').toString();
    }

    private static void append(StringBuilder text, Class<?> type) {
      if (type.isArray()) {
        append(text, type.getComponentType());
        text.append("[]");
      } else {
        text.append(type.getName());
      }
    }
  }

  /** PT1: built once for a method, then looked up. */
  final class Cached implements Signatures {
    private final Signatures built = new Built();
    private final ConcurrentMap<MonitoredMethod, String> known = new ConcurrentHashMap<>();

    @Override
    public String of(MonitoredMethod method) {
      String signature = known.get(method);
      if (signature == null) {
        signature = built.of(method);
        known.putIfAbsent(method, signature);
      }
      return signature;
    }
  }

  /** As the settings say. */
  static Signatures of(Settings settings) {
    return settings.cached ? new Cached() : new Built();
  }
}
