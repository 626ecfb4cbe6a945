package tracetax.calltree;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/** What only the program itself can see, at one moment. */
final class Snapshot {
  final long monotonicNs;

  private final Map<String, Object> values = new LinkedHashMap<>();

  private Snapshot() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long collections = 0;
    long collectionMs = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      collections += Math.max(collector.getCollectionCount(), 0);
      collectionMs += Math.max(collector.getCollectionTime(), 0);
    }
    monotonicNs = System.nanoTime();
    values.put("monotonic_ns", monotonicNs);
    values.put("process_cpu_ns", system.getProcessCpuTime());
    values.put("gc_count", collections);
    values.put("gc_time_ms", collectionMs);
    values.put(
        "heap_used_bytes", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    values.put("jit_time_ms", compilationMs());
  }

  static Snapshot take() {
    return new Snapshot();
  }

  /** Time spent compiling so far, ms; 0 where nothing compiles. */
  static long compilationMs() {
    CompilationMXBean compilation = ManagementFactory.getCompilationMXBean();
    return compilation == null ? 0 : compilation.getTotalCompilationTime();
  }

  Map<String, Object> values() {
    return values;
  }
}
