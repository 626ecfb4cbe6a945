package tracetax.ladder;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * PT4: the probe without interfaces, checks and choices. What is constant is known when its class
 * is loaded, so the JVM compiles nothing of what is switched off.
 */
public final class MinimalProbe {
  private static final Settings SETTINGS = LadderAgent.settings;
  private static final boolean ACTIVE = SETTINGS.layer != Settings.Layer.deactivated;
  private static final boolean CACHED = SETTINGS.cached;
  private static final boolean FLAT = SETTINGS.flat;
  private static final boolean PAIRS = SETTINGS.pairs;
  private static final long EPOCH_NS = TimeSource.Nanos.EPOCH_NS;
  private static final Writer WRITER = LadderAgent.writer;
  private static final Registry REGISTRY = WRITER.registry;
  private static final Signatures BUILT = new Signatures.Built();
  private static final int BEFORE = REGISTRY.get(Record.BEFORE);
  private static final int AFTER = REGISTRY.get(Record.AFTER);
  private static final int TRACE = REGISTRY.get(Record.TRACE);
  private static final int EXECUTION = REGISTRY.get(Record.EXECUTION);
  private static final int SESSION = REGISTRY.get(Record.NO_SESSION);
  private static final int HOST = REGISTRY.get(Record.HOST);

  /** What is known of methods, by their numbers: found at the first execution. */
  private static volatile String[] signatures = {};

  private static volatile int[] signatureNumbers = {};

  private static final ThreadLocal<Local> LOCALS = ThreadLocal.withInitial(Local::new);

  private MinimalProbe() {}

  /** What a thread knows of its executions that have begun and not ended. */
  public static final class Local {
    private static final int FIRST_DEPTH = 64;

    final Buffers.Own own = FLAT ? WRITER.buffers.own() : null;
    final long threadId = Thread.currentThread().getId();
    long trace;
    int index;
    int depth;
    int[] signatureNumbers = new int[FIRST_DEPTH];
    int[] typeNumbers = new int[FIRST_DEPTH];
    int[] orders = new int[FIRST_DEPTH];
    long[] starts = new long[FIRST_DEPTH];
    String[] signatures = new String[FIRST_DEPTH];
    String[] types = new String[FIRST_DEPTH];
    Class<?> lastClass;
    int lastTypeNumber;

    void deeper() {
      int more = 2 * starts.length;
      signatureNumbers = Arrays.copyOf(signatureNumbers, more);
      typeNumbers = Arrays.copyOf(typeNumbers, more);
      orders = Arrays.copyOf(orders, more);
      starts = Arrays.copyOf(starts, more);
      signatures = Arrays.copyOf(signatures, more);
      types = Arrays.copyOf(types, more);
    }
  }

  /** An execution begins; null where nothing is recorded at all. */
  public static Local enter(Object self, int method) {
    if (!ACTIVE) {
      return null;
    }
    Local local = LOCALS.get();
    if (local.depth == 0) {
      begin(local);
    }
    int at = local.depth++;
    if (at == local.starts.length) {
      local.deeper();
    }
    named(local, at, self, method);
    long now = System.nanoTime() + EPOCH_NS;
    if (PAIRS) {
      event(local, BEFORE, at, now, true);
    } else {
      local.orders[at] = local.index++;
      local.starts[at] = now;
    }
    return local;
  }

  /** It has ended. */
  public static void exit(Local local) {
    if (!ACTIVE) {
      return;
    }
    long now = System.nanoTime() + EPOCH_NS;
    int at = --local.depth;
    if (PAIRS) {
      event(local, AFTER, at, now, false);
    } else {
      execution(local, at, now);
    }
    if (FLAT && at == 0) {
      local.own.traceEnded();
    }
  }

  /** It has ended by an exception. */
  public static void failed(Local local, Throwable cause) {
    if (!PAIRS || !ACTIVE) {
      exit(local);
      return;
    }
    long now = System.nanoTime() + EPOCH_NS;
    int at = --local.depth;
    String why = cause.getClass().getName();
    if (FLAT) {
      int kind = REGISTRY.get(Record.FAILED);
      int number = REGISTRY.get(why);
      Flat.event(local.own, kind, now, now, local.trace)
          .putInt(local.index++)
          .putInt(local.signatureNumbers[at])
          .putInt(local.typeNumbers[at])
          .putInt(number);
      if (at == 0) {
        local.own.traceEnded();
      }
    } else {
      take(
          new OperationEvent.Failed(
              now, local.trace, local.index++, local.signatures[at], local.types[at], why),
          now);
    }
  }

  private static void begin(Local local) {
    local.trace = Traces.nextId();
    local.index = 0;
    if (PAIRS) {
      long now = System.nanoTime() + EPOCH_NS;
      if (FLAT) {
        Flat.trace(local.own, TRACE, now, local.trace, local.threadId, SESSION, HOST);
      } else {
        take(new TraceMetadata(local.trace, local.threadId), now);
      }
    }
  }

  /** Finds what method and class are called, and keeps it until the execution has ended. */
  private static void named(Local local, int at, Object self, int method) {
    String signature = null;
    if (!CACHED) {
      signature = BUILT.of(MonitoredMethod.of(method));
    } else if (method >= signatures.length) {
      look(method);
    }
    if (FLAT) {
      local.signatureNumbers[at] = CACHED ? signatureNumbers[method] : REGISTRY.get(signature);
      if (PAIRS) {
        local.typeNumbers[at] = typeNumber(local, self, method);
      }
    } else {
      local.signatures[at] = CACHED ? signatures[method] : signature;
      if (PAIRS) {
        local.types[at] = type(self, method);
      }
    }
  }

  private static String type(Object self, int method) {
    return self == null ? MonitoredMethod.of(method).owner : self.getClass().getName();
  }

  private static int typeNumber(Local local, Object self, int method) {
    if (!CACHED || self == null) {
      return REGISTRY.get(type(self, method));
    }
    Class<?> own = self.getClass();
    if (own != local.lastClass) {
      local.lastClass = own;
      local.lastTypeNumber = REGISTRY.get(own.getName());
    }
    return local.lastTypeNumber;
  }

  private static synchronized void look(int method) {
    int known = signatures.length;
    String[] texts = Arrays.copyOf(signatures, method + 1);
    int[] numbers = Arrays.copyOf(signatureNumbers, method + 1);
    for (int number = known; number <= method; number++) {
      texts[number] = BUILT.of(MonitoredMethod.of(number));
      numbers[number] = REGISTRY.get(texts[number]);
    }
    signatureNumbers = numbers;
    signatures = texts;
  }

  private static void event(Local local, int kind, int at, long now, boolean begins) {
    int index = local.index++;
    if (FLAT) {
      ByteBuffer to = Flat.event(local.own, kind, now, now, local.trace);
      to.putInt(index).putInt(local.signatureNumbers[at]).putInt(local.typeNumbers[at]);
      return;
    }
    String signature = local.signatures[at];
    String type = local.types[at];
    take(
        begins
            ? new OperationEvent.Before(now, local.trace, index, signature, type)
            : new OperationEvent.After(now, local.trace, index, signature, type),
        now);
  }

  private static void execution(Local local, int at, long now) {
    if (FLAT) {
      Flat.execution(local.own, EXECUTION, now)
          .putInt(local.signatureNumbers[at])
          .putInt(SESSION)
          .putLong(local.trace)
          .putLong(local.starts[at])
          .putLong(now)
          .putInt(HOST)
          .putInt(local.orders[at])
          .putInt(at);
    } else {
      take(
          new OperationExecution(
              local.signatures[at], local.trace, local.starts[at], now, local.orders[at], at),
          now);
    }
  }

  private static void take(Record record, long now) {
    record.setLoggingTime(now);
    WRITER.take(record);
  }
}
