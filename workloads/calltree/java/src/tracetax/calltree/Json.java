package tracetax.calltree;

import java.util.List;
import java.util.Map;

/** Writes maps, lists, strings and numbers as JSON. */
final class Json {
  private final StringBuilder text = new StringBuilder();

  private Json() {}

  static String of(Object value) {
    Json json = new Json();
    json.write(value);
    return json.text.append('\n').toString();
  }

  private void write(Object value) {
    if (value instanceof Map) {
      object((Map<?, ?>) value);
    } else if (value instanceof List) {
      array((List<?>) value);
    } else if (value == null || value instanceof Number) {
      text.append(value);
    } else {
      string(value.toString());
    }
  }

  private void object(Map<?, ?> map) {
    char before = '{';
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      text.append(before);
      string(entry.getKey().toString());
      text.append(':');
      write(entry.getValue());
      before = ',';
    }
    text.append(map.isEmpty() ? "{}" : "}");
  }

  private void array(List<?> list) {
    char before = '[';
    for (Object element : list) {
      text.append(before);
      write(element);
      before = ',';
    }
    text.append(list.isEmpty() ? "[]" : "]");
  }

  private void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append(String.format("\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }
}
