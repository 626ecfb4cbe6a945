package tracetax.calltree;

/** Where a probe would begin and end, with nothing in it. */
final class Probe {
  private Probe() {}

  static void before() {}

  static void after() {}
}
