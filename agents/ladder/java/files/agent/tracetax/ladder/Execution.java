package tracetax.ladder;

/** What the general probe keeps of an execution until it ends. */
public final class Execution {
  final Trace trace;
  final boolean outermost;
  final String signature;
  final String type;

  /** Where one record is made of it: when it began, and its place in the trace. */
  long start;

  int order;
  int depth;

  /** Where records are flat: the numbers of its strings. */
  int signatureNumber;

  int typeNumber;

  Execution(Trace trace, boolean outermost, String signature, String type) {
    this.trace = trace;
    this.outermost = outermost;
    this.signature = signature;
    this.type = type;
  }
}
