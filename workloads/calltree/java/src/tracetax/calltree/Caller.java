package tracetax.calltree;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One calling thread's part of a burst or of the measured calls, with its own samples and counters.
 */
final class Caller {
  /**
   * Warm-up calls per entry into the loop: two chunks, so that its going round is profiled as well.
   */
  private static final int WARM_UP_CALLS = 2 * CallLoop.CHUNK;

  /** Entries into the chunk, without a call, after calls that do not fill one. */
  private static final int CHUNK_ENTRIES = 2;

  /** Entries into the loop in a round, after which the compilers get a moment to take it up. */
  private static final int ENTRIES = 2_000;

  private static final int ENTRY_ROUNDS = 10;

  /** Paced warm-up keeps at least this rate: waiting is exercised, and yet it is over soon. */
  private static final double LEAST_WARM_UP_RATE = 20_000;

  /** Time before the first intended start that reading the counters gets. */
  private static final long LEAD_NS = 100_000;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  final int thread;
  final Samples samples;

  /** Between the first and the last of the latest calls, by this thread. */
  private long allocatedBytes;

  private long cpuNs;

  /** The clock before the first and after the last of the latest calls. */
  private long firstNs;

  private long lastNs;

  /** Of everything the calls returned: kept, so that no compiler may leave a call out. */
  long sum;

  private final Options options;
  private final CallLoop loop;
  private final Samples scratch;
  private final double warmUpRate;

  Caller(int thread, Options options, CallLoop loop) {
    this.thread = thread;
    this.options = options;
    this.loop = loop;
    this.warmUpRate = Math.max(options.rate, LEAST_WARM_UP_RATE);
    this.samples = samples((int) options.shareOf(options.calls, thread), options.rate);
    this.scratch = samples(WARM_UP_CALLS, warmUpRate);
  }

  private Samples samples(int calls, double rate) {
    return options.paced()
        ? Samples.paced(calls, thread, options.threads, rate)
        : Samples.closed(calls);
  }

  /**
   * Makes this thread's share of {@code calls} calls and forgets their samples.
   *
   * <p>In bursts of few calls, this method is entered as often as the chunk. Compiled first, it
   * would take the chunk in, which then is counted no more and never compiled by itself. So the
   * chunk is entered more often.
   */
  void warmUp(long calls, long epochNs) {
    long share = options.shareOf(calls, thread);
    double pieceNs = options.paced() ? WARM_UP_CALLS * options.threads * 1e9 / warmUpRate : 0;
    begin(epochNs);
    for (long piece = 0; piece * WARM_UP_CALLS < share; piece++) {
      int count = (int) Math.min(share - piece * WARM_UP_CALLS, WARM_UP_CALLS);
      sum += loop.run(scratch, count, epochNs + Math.round(piece * pieceNs));
      for (int entry = 0; count < CallLoop.CHUNK && entry < CHUNK_ENTRIES; entry++) {
        sum += loop.chunk(scratch, 0, 0, epochNs);
      }
    }
    end();
  }

  /**
   * Enters the loop so often, without a call, that it is compiled as a method; the measured calls
   * enter it once, and would have it compiled under way. To be done once the chunk is compiled by
   * itself: inside a loop that is compiled first, it would be counted no more and never be.
   */
  void enter() throws InterruptedException {
    for (int round = 0; round < ENTRY_ROUNDS; round++) {
      for (int entry = 0; entry < ENTRIES; entry++) {
        sum += loop.run(scratch, 0, 0);
      }
      Thread.sleep(1);
    }
  }

  /** Makes this thread's share of the measured calls. */
  void measure(long epochNs) {
    begin(epochNs);
    sum += loop.run(samples, samples.durations.length, epochNs);
    end();
  }

  private void begin(long epochNs) {
    Wait.SPIN.until(epochNs - LEAD_NS);
    long thread = Thread.currentThread().getId();
    cpuNs = -THREADS.getCurrentThreadCpuTime();
    // Some JVMs allocate on reading the counter (JDK 8: two arrays): that is measured and taken
    // out.
    long before = THREADS.getThreadAllocatedBytes(thread);
    long now = THREADS.getThreadAllocatedBytes(thread);
    allocatedBytes = before - now - now;
    firstNs = System.nanoTime();
  }

  private void end() {
    lastNs = System.nanoTime();
    allocatedBytes += THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    cpuNs += THREADS.getCurrentThreadCpuTime();
  }

  /** The clock after the last of the latest calls. */
  long lastNs() {
    return lastNs;
  }

  /** This thread's counters over the latest calls. */
  Map<String, Object> counters() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("thread", thread);
    values.put("calls", samples.durations.length);
    values.put("first_ns", firstNs);
    values.put("last_ns", lastNs);
    values.put("allocated_bytes", allocatedBytes);
    values.put("cpu_ns", cpuNs);
    return values;
  }
}
