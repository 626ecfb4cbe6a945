"""The calls themselves, in chunks. Between two samples there are clock reads, the wait at a rate, and array stores."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from select import poll
from time import perf_counter_ns, sleep

from tracetax_calltree import Monitored
from tracetax_calltree.control import Stop
from tracetax_calltree.options import Options

CHUNK = 16
"""Calls between two looks at whether to stop."""


@dataclass(frozen=True)
class Samples:
    """One thread's samples, a place per call: allocated and touched before the first call."""

    durations: "array[int]"
    """Start to end of each call, ns."""
    starts: "array[int]"
    """Intended start of each call after the first of all threads, ns; empty in a closed loop."""
    lateness: "array[int]"
    """Real minus intended start of each call, ns; empty in a closed loop."""


def samples(calls: int, thread: int, options: Options, rate: float) -> Samples:
    """Places for ``calls`` calls of a thread, at a rate with its schedule: the threads share the rate evenly."""
    touched = array("q", [-1])
    if not options.paced:
        return Samples(touched * calls, array("q"), array("q"))
    period_ns = 1e9 / rate
    schedule = (round((k * options.threads + thread) * period_ns) for k in range(calls))
    return Samples(touched * calls, array("q", schedule), touched * calls)


def spin(intended_ns: int) -> int:
    """Read the clock until the time has come, and let other threads have the interpreter's lock in between.

    A poll of nothing gives the lock away for a moment and keeps the core. ``sleep(0)`` sleeps some 50 µs, and a loop
    without either would hold the lock for 5 ms at a time, so that an exporter could not work beside it.
    """
    hand_over = poll().poll
    while (now := perf_counter_ns()) < intended_ns:
        hand_over(0)
    return now


def park(intended_ns: int) -> int:
    """Sleep until the time has come, and again for whatever remains; never spin."""
    while (now := perf_counter_ns()) < intended_ns:
        sleep((intended_ns - now) / 1e9)
    return now


@dataclass(frozen=True)
class Loop:
    """Makes one thread's calls; warm-up and measured calls take the same way."""

    monitored: Monitored
    options: Options
    stop: Stop

    def run(self, into: Samples, calls: int, epoch_ns: int) -> None:
        """Make the first ``calls`` calls of ``into``; end early, after a whole chunk, when stopped.

        ``epoch_ns`` is the clock at the intended start of the first call of all threads.
        """
        chunk = self.paced_chunk if self.options.paced else self.closed_chunk
        for begin in range(0, calls, CHUNK):
            if self.stop.requested:
                return
            chunk(into, range(begin, min(begin + CHUNK, calls)), epoch_ns)

    def closed_chunk(self, into: Samples, calls: range, epoch_ns: int) -> None:
        """Calls back to back."""
        monitored, durations = self.monitored, into.durations
        method_time_ns, depth = self.options.method_time_ns, self.options.depth
        for i in calls:
            start = perf_counter_ns()
            monitored.monitored_method(method_time_ns, depth)
            durations[i] = perf_counter_ns() - start

    def paced_chunk(self, into: Samples, calls: range, epoch_ns: int) -> None:
        """Calls at a rate: a late call starts at once, none is left out, and the schedule stays as it was."""
        monitored, durations, starts, lateness = self.monitored, into.durations, into.starts, into.lateness
        method_time_ns, depth = self.options.method_time_ns, self.options.depth
        until: Callable[[int], int] = spin if self.options.wait == "spin" else park
        for i in calls:
            intended = epoch_ns + starts[i]
            start = until(intended)
            monitored.monitored_method(method_time_ns, depth)
            durations[i] = perf_counter_ns() - start
            lateness[i] = start - intended
