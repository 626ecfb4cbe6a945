package tracetax.calltree;

/** The JVM's list of compiled methods (JDK 9 and later). */
final class CodeList {
  private static final String IN_USE = "0";

  private CodeList() {}

  /** Returns the list; null if this JVM has none. */
  static String read() {
    return Diagnostics.run("compilerCodelist");
  }

  /**
   * Returns the highest tier at which code of a method is in use, 0 if it is only interpreted.
   *
   * @param list lines of compile id, tier, state and method, as {@code 123 4 0 pack.Type.method(I)J
   *     [...]}
   */
  static int tier(String list, Class<?> type, String method) {
    String signed = " " + type.getName() + "." + method + "(";
    int highest = 0;
    for (int at = list.indexOf(signed); at >= 0; at = list.indexOf(signed, at + 1)) {
      String[] columns = list.substring(list.lastIndexOf('\n', at) + 1, at).trim().split(" +");
      if (columns.length == 3 && columns[2].equals(IN_USE)) {
        highest = Math.max(highest, Integer.parseInt(columns[1]));
      }
    }
    return highest;
  }
}
