package tracetax.calltree;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * What the JVM tells of each collection after it: when it was, and the used heap before and after.
 * The callers have no part in it; where nothing is collected, nothing happens here.
 */
final class CollectionLog implements NotificationListener {
  /** How long the JVM gets to tell of the last collections, which it does after them. */
  private static final long LONGEST_WAIT_NS = 200_000_000;

  /** Collections that are kept; of what comes after them only the number. */
  private static final int KEPT = 50_000;

  private final Set<String> heapPools = new HashSet<>();
  private final List<Map<String, Object>> kept = new ArrayList<>();
  private final long before;
  private long further;

  /** Asks every collector of this JVM to tell of its collections from now on. */
  CollectionLog() {
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getType() == MemoryType.HEAP) {
        heapPools.add(pool.getName());
      }
    }
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter) {
        ((NotificationEmitter) collector).addNotificationListener(this, null, null);
      }
    }
    before = counted();
  }

  private static long counted() {
    long sum = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      sum += Math.max(collector.getCollectionCount(), 0);
    }
    return sum;
  }

  @Override
  public synchronized void handleNotification(Notification notification, Object handback) {
    String type = notification.getType();
    if (!type.equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
      return;
    }
    if (kept.size() == KEPT) {
      further++;
      return;
    }
    CompositeData data = (CompositeData) notification.getUserData();
    GarbageCollectionNotificationInfo info = GarbageCollectionNotificationInfo.from(data);
    GcInfo collection = info.getGcInfo();
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("collector", info.getGcName());
    values.put("start_ms", collection.getStartTime());
    values.put("duration_ms", collection.getDuration());
    values.put("before_bytes", used(collection.getMemoryUsageBeforeGc()));
    values.put("after_bytes", used(collection.getMemoryUsageAfterGc()));
    kept.add(values);
  }

  private long used(Map<String, MemoryUsage> pools) {
    long sum = 0;
    for (Map.Entry<String, MemoryUsage> pool : pools.entrySet()) {
      if (heapPools.contains(pool.getKey())) {
        sum += pool.getValue().getUsed();
      }
    }
    return sum;
  }

  /** Listens no longer, once all collections so far have been told. */
  void end() throws InterruptedException {
    long due = counted() - before;
    long giveUp = System.nanoTime() + LONGEST_WAIT_NS;
    while (told() < due && System.nanoTime() < giveUp) {
      Thread.sleep(1);
    }
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (collector instanceof NotificationEmitter) {
        try {
          ((NotificationEmitter) collector).removeNotificationListener(this);
        } catch (ListenerNotFoundException e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  private synchronized long told() {
    return kept.size() + further;
  }

  /** The collections, with the two clocks by which their times can be read. */
  synchronized Map<String, Object> values() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("uptime_ms", ManagementFactory.getRuntimeMXBean().getUptime());
    values.put("monotonic_ns", System.nanoTime());
    values.put("each", new ArrayList<Object>(kept));
    values.put("further", further);
    return values;
  }
}
