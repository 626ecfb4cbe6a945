package tracetax.calltree;

import java.util.LinkedHashMap;
import java.util.Map;

/** The warm-up so far, and what it has achieved. */
final class WarmUp {
  private static final long CALLS_BETWEEN_LOOKS = 500;

  private final Class<? extends CallLoop> loop;
  private final CompilationTime compilation = new CompilationTime();
  private long calls;
  private int bursts;
  private long lookedAt;
  private Warmth warmth;

  WarmUp(Class<? extends CallLoop> loop) {
    this.loop = loop;
  }

  /** Counts a burst of warm-up calls. */
  void made(long burst) {
    calls += burst;
    bursts++;
  }

  long calls() {
    return calls;
  }

  /**
   * What the last look has shown, or a new one after some hundred calls: a look takes milliseconds.
   */
  Warmth glance() {
    return warmth == null || calls - lookedAt >= CALLS_BETWEEN_LOOKS ? look() : warmth;
  }

  /** Looks at how far compilation has come by now. */
  Warmth look() {
    lookedAt = calls;
    String list = CodeList.read();
    if (list != null) {
      int driver = CodeList.tier(list, loop, "chunk");
      int method = CodeList.tier(list, MonitoredClass.class, "monitoredMethod");
      warmth = new Warmth(driver, method, "codelist");
    } else {
      boolean steady = compilation.steady(calls, Snapshot.compilationMs());
      int tier = steady ? Warmth.TOP_TIER : 0;
      warmth = new Warmth(tier, tier, "compilation-time");
    }
    return warmth;
  }

  /** What the last look has shown. */
  Map<String, Object> values() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("calls", calls);
    values.put("bursts", bursts);
    values.put("driver_level", warmth.driver);
    values.put("method_level", warmth.method);
    values.put("how", warmth.how);
    return values;
  }
}
