"""What one reading of the clock costs on this machine; every call is timed by two of them."""

import time

_READS = 2_000
_ROUNDS = 25


def clock_read_ns() -> float:
    """Cost of one reading of CLOCK_MONOTONIC, ns.

    The same Python call on CLOCK_MONOTONIC_COARSE, which only copies a number out of shared memory on every machine,
    is taken off: what remains is the clock itself, with the way into the kernel where it needs one.
    """
    return max(0.0, _call_ns(time.CLOCK_MONOTONIC) - _call_ns(_COARSE))


_COARSE = 6
"""CLOCK_MONOTONIC_COARSE, which Python gives no name."""


def _call_ns(clock: int) -> float:
    """The cheapest of several rounds, so that what else runs plays no part."""
    read = time.clock_gettime_ns
    best = float("inf")
    for _ in range(_ROUNDS):
        begun = time.perf_counter_ns()
        for _ in range(_READS):
            read(clock)
        best = min(best, (time.perf_counter_ns() - begun) / _READS)
    return best
