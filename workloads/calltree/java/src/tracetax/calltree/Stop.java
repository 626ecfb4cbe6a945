package tracetax.calltree;

/** The wish, from outside, that no further calls be made. */
final class Stop {
  private volatile boolean requested;

  void request() {
    requested = true;
  }

  boolean requested() {
    return requested;
  }
}
