package tracetax.ladder;

import com.lmax.disruptor.EventPoller;
import com.lmax.disruptor.RingBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jctools.queues.MpscArrayQueue;
import org.jctools.queues.SpscArrayQueue;

/**
 * PT2: how what probes make gets to the one thread that writes. Where it is full, the caller waits.
 */
interface Handover {
  /** By any thread. */
  void put(Object item);

  /** By the writer: passes on what is there, and waits a little where nothing is. */
  void await(Consumer<Object> to) throws InterruptedException;

  /** By the writer: passes something on; false where nothing is there. */
  boolean poll(Consumer<Object> to);

  /** As the settings name it, for so many items: a power of two. */
  static Handover of(String name, int capacity) {
    switch (name) {
      case "array":
        return new Blocking(new ArrayBlockingQueue<>(capacity));
      case "linked":
        return new Blocking(new LinkedBlockingQueue<>(capacity));
      case "disruptor":
        return new Disruptor(capacity);
      case "mpsc":
        return new Polled(new MpscArrayQueue<>(capacity));
      default:
        return new OfThreads(capacity);
    }
  }

  /** A queue of java.util.concurrent, from which the writer takes one after the other. */
  final class Blocking implements Handover {
    private final BlockingQueue<Object> queue;

    Blocking(BlockingQueue<Object> queue) {
      this.queue = queue;
    }

    @Override
    public void put(Object item) {
      boolean interrupted = false;
      while (true) {
        try {
          queue.put(item);
          break;
        } catch (InterruptedException again) { // the program's own business
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void await(Consumer<Object> to) throws InterruptedException {
      to.accept(queue.take());
    }

    @Override
    public boolean poll(Consumer<Object> to) {
      Object item = queue.poll();
      if (item != null) {
        to.accept(item);
      }
      return item != null;
    }
  }

  /** Those whose writer looks again and again. */
  abstract class Looked implements Handover {
    private static final int SPINS = 100;
    private static final int YIELDS = 100;
    private static final long NAP_NS = 100;

    private int found;

    @Override
    public final void await(Consumer<Object> to) {
      if (poll(to)) {
        found = 0;
      } else if (++found <= SPINS) {
        Thread.onSpinWait();
      } else if (found <= SPINS + YIELDS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(NAP_NS);
      }
    }

    /** A caller waits for room. */
    static void full() {
      LockSupport.parkNanos(1);
    }
  }

  /** A queue of JCTools. */
  final class Polled extends Looked {
    private final Queue<Object> queue;

    Polled(Queue<Object> queue) {
      this.queue = queue;
    }

    @Override
    public void put(Object item) {
      while (!queue.offer(item)) {
        full();
      }
    }

    @Override
    public boolean poll(Consumer<Object> to) {
      Object item = queue.poll();
      if (item != null) {
        to.accept(item);
      }
      return item != null;
    }
  }

  /** LMAX's ring, which has its places from the beginning. */
  final class Disruptor extends Looked {
    private static final class Place {
      Object item;
    }

    private final RingBuffer<Place> ring;
    private final EventPoller<Place> poller;

    Disruptor(int capacity) {
      ring = RingBuffer.createMultiProducer(Place::new, capacity);
      poller = ring.newPoller();
      ring.addGatingSequences(poller.getSequence());
    }

    @Override
    public void put(Object item) {
      long place = ring.next();
      ring.get(place).item = item;
      ring.publish(place);
    }

    @Override
    public boolean poll(Consumer<Object> to) {
      try {
        return poller.poll(
                (place, sequence, last) -> {
                  Object item = place.item;
                  place.item = null;
                  to.accept(item);
                  return true;
                })
            == EventPoller.PollState.PROCESSING;
      } catch (Exception impossible) { // the handler declares none
        throw new IllegalStateException(impossible);
      }
    }
  }

  /** A buffer for each thread: nothing is shared between callers. */
  final class OfThreads extends Looked {
    private final List<Queue<Object>> all = new CopyOnWriteArrayList<>();
    private final ThreadLocal<Queue<Object>> own;

    OfThreads(int capacity) {
      own =
          ThreadLocal.withInitial(
              () -> {
                Queue<Object> queue = new SpscArrayQueue<>(capacity);
                all.add(queue);
                return queue;
              });
    }

    @Override
    public void put(Object item) {
      Queue<Object> queue = own.get();
      while (!queue.offer(item)) {
        full();
      }
    }

    @Override
    public boolean poll(Consumer<Object> to) {
      boolean any = false;
      for (Queue<Object> queue : all) {
        Object item = queue.poll();
        if (item != null) {
          to.accept(item);
          any = true;
        }
      }
      return any;
    }
  }
}
