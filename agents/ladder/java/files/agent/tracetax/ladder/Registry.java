package tracetax.ladder;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Numbers for strings: records name classes and methods by them. */
final class Registry {
  private final ConcurrentMap<String, Integer> numbers = new ConcurrentHashMap<>();
  private final List<String> strings = new ArrayList<>();
  private volatile int size;

  /** The number of a string; a new one where it has none. */
  int get(String text) {
    Integer number = numbers.get(text);
    return number != null ? number : add(text);
  }

  private synchronized int add(String text) {
    Integer number = numbers.get(text);
    if (number == null) {
      number = strings.size();
      strings.add(text);
      numbers.put(text, number);
      size = strings.size();
    }
    return number;
  }

  int size() {
    return size;
  }

  synchronized String string(int number) {
    return strings.get(number);
  }
}
