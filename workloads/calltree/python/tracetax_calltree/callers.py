"""The calling threads: started once, released together for every burst and for the measured calls."""

import threading
from collections.abc import Callable
from time import perf_counter_ns, thread_time_ns

from tracetax_calltree.loops import Loop, samples, spin
from tracetax_calltree.options import Options

HEAD_START_NS = 2_000_000
"""From the last thread's arrival to the first intended start: time for all to wake up."""
LEAD_NS = 100_000
"""Time before the first intended start that reading the counters gets."""
WARM_UP_CALLS = 32
"""Warm-up calls per entry into the loop, as many as there are places for their samples."""
LEAST_WARM_UP_RATE = 20_000.0
"""Paced warm-up keeps at least this rate: waiting is exercised, and yet it is over soon."""


class Caller:
    """One thread's part of a burst or of the measured calls, with its own samples and counters."""

    def __init__(self, thread: int, options: Options, loop: Loop, tell: Callable[[int], None] | None) -> None:
        self.thread = thread
        self.samples = samples(options.share(options.calls, thread), thread, options, options.rate)
        self.first_ns = self.last_ns = self.cpu_ns = 0
        self._options = options
        self._loop = loop
        self._tell = tell
        self._warm_up_rate = max(options.rate, LEAST_WARM_UP_RATE)
        self._scratch = samples(WARM_UP_CALLS, thread, options, self._warm_up_rate)

    def warm_up(self, calls: int, epoch_ns: int) -> None:
        """Make this thread's share of ``calls`` calls and forget their samples, once they are told of."""
        share = self._options.share(calls, self.thread)
        piece_ns = WARM_UP_CALLS * self._options.threads * 1e9 / self._warm_up_rate if self._options.paced else 0.0
        self._begin(epoch_ns)
        for piece, made in enumerate(range(0, share, WARM_UP_CALLS)):
            count = min(share - made, WARM_UP_CALLS)
            self._loop.run(self._scratch, count, epoch_ns + round(piece * piece_ns))
            if self._tell:
                for duration in self._scratch.durations[:count]:
                    self._tell(duration)
        self._end()

    def measure(self, epoch_ns: int) -> None:
        """Make this thread's share of the measured calls."""
        self._begin(epoch_ns)
        self._loop.run(self.samples, len(self.samples.durations), epoch_ns)
        self._end()

    def _begin(self, epoch_ns: int) -> None:
        spin(epoch_ns - LEAD_NS)
        self.cpu_ns = -thread_time_ns()
        self.first_ns = perf_counter_ns()

    def _end(self) -> None:
        self.last_ns = perf_counter_ns()
        self.cpu_ns += thread_time_ns()

    def counters(self) -> dict[str, int]:
        """This thread's counters over the latest calls."""
        return {
            "thread": self.thread,
            "calls": len(self.samples.durations),
            "first_ns": self.first_ns,
            "last_ns": self.last_ns,
            "cpu_ns": self.cpu_ns,
        }


class CallerFailed(RuntimeError):
    """A call raised an exception."""


class Callers:
    """All calling threads. They are daemons: waiting for the next release, they keep nobody from ending."""

    def __init__(self, options: Options, loop: Loop, tell: Callable[[int], None]) -> None:
        self.all = [Caller(t, options, loop, None if t else tell) for t in range(options.threads)]
        self._released = threading.Barrier(options.threads + 1, self._set_epoch)
        self._finished = threading.Barrier(options.threads + 1)
        self._work: Callable[[Caller], None] | None = None
        self._epoch_ns = 0
        self._failure: Exception | None = None
        for caller in self.all:
            name = f"caller-{caller.thread}"
            threading.Thread(target=self._obey, args=(caller,), name=name, daemon=True).start()

    def warm_up(self, calls: int) -> None:
        """Make ``calls`` calls, all threads together, and return when the last has ended. Raises CallerFailed."""
        self._perform(lambda caller: caller.warm_up(calls, self._epoch_ns))

    def measure(self) -> None:
        """Make the measured calls and return when the last has ended. Raises CallerFailed."""
        self._perform(lambda caller: caller.measure(self._epoch_ns))

    def _perform(self, work: Callable[[Caller], None]) -> None:
        self._work = work
        self._released.wait()
        self._finished.wait()
        if self._failure:
            failure = f"{type(self._failure).__name__}: {self._failure}"
            raise CallerFailed(f"a caller failed: {failure}") from self._failure

    def _set_epoch(self) -> None:
        """Set the first intended start, when all threads are there."""
        self._epoch_ns = perf_counter_ns() + HEAD_START_NS

    def _obey(self, caller: Caller) -> None:
        while True:
            self._released.wait()
            try:
                assert self._work
                self._work(caller)
            except Exception as error:  # told by the main thread
                self._failure = error
            self._finished.wait()
