package tracetax.calltree;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * The calling threads: started once, released together for every burst and for the measured calls.
 * They are daemons: waiting for the next release, they keep nobody from ending.
 */
final class Callers {
  /** From the last thread's arrival to the first intended start: time for all to wake up. */
  private static final long HEAD_START_NS = 2_000_000;

  private enum Work {
    WARM_UP,
    ENTER,
    MEASURE
  }

  final Caller[] all;

  private final CyclicBarrier released;
  private final CyclicBarrier finished;
  private volatile Work work;
  private volatile long burst;
  private volatile long epochNs;
  private volatile Throwable failure;

  /** Allocates and touches every sample, and starts the threads, which wait. */
  Callers(Options options, CallLoop loop) {
    all = new Caller[options.threads];
    released = new CyclicBarrier(options.threads + 1, new Epoch());
    finished = new CyclicBarrier(options.threads + 1);
    for (int thread = 0; thread < all.length; thread++) {
      all[thread] = new Caller(thread, options, loop);
    }
    for (Caller caller : all) {
      Thread thread = new Thread(new Obedience(caller), "caller-" + caller.thread);
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Makes {@code calls} calls, all threads together, and returns when the last has ended. */
  void warmUp(long calls) throws InterruptedException {
    burst = calls;
    perform(Work.WARM_UP);
  }

  /** Has every thread enter its loop often, without a call. */
  void enter() throws InterruptedException {
    perform(Work.ENTER);
  }

  /** Makes the measured calls and returns when the last has ended. */
  void measure() throws InterruptedException {
    perform(Work.MEASURE);
  }

  private void perform(Work next) throws InterruptedException {
    work = next;
    await(released);
    await(finished);
    if (failure != null) {
      throw new IllegalStateException("a caller failed: " + failure, failure);
    }
  }

  private static void await(CyclicBarrier barrier) throws InterruptedException {
    try {
      barrier.await();
    } catch (BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sets the first intended start, when all threads are there. */
  private final class Epoch implements Runnable {
    @Override
    public void run() {
      epochNs = System.nanoTime() + HEAD_START_NS;
    }
  }

  /** A calling thread's life. */
  private final class Obedience implements Runnable {
    private final Caller caller;

    Obedience(Caller caller) {
      this.caller = caller;
    }

    @Override
    public void run() {
      try {
        while (true) {
          await(released);
          try {
            if (work == Work.WARM_UP) {
              caller.warmUp(burst, epochNs);
            } else if (work == Work.ENTER) {
              caller.enter();
            } else {
              caller.measure(epochNs);
            }
          } catch (Throwable e) {
            failure = e;
          }
          await(finished);
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException("caller interrupted", e);
      }
    }
  }
}
