package tracetax.ladder;

/** The executions of a thread from an outermost one on. */
final class Trace {
  final long id;
  final long threadId;
  private int nextIndex;
  private int depth;

  Trace(long id, long threadId) {
    this.id = id;
    this.threadId = threadId;
  }

  int nextIndex() {
    return nextIndex++;
  }

  int down() {
    return depth++;
  }

  void up() {
    depth--;
  }
}
