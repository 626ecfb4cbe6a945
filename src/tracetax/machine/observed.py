"""What a look of a second at the machine shows: who else works, what the clock costs, what is left of its memory."""

import os
import socket
import time
from pathlib import Path

from msgspec import Struct

from tracetax.machine import disturbance
from tracetax.machine.isolation import Isolation
from tracetax.machine.limits import cgroup_version, meminfo, memory_available, read_throttling
from tracetax.machine.lock import holder

WANTED_BUFFER_BYTES = 16 << 20
"""The receive buffer that the sink asks for where agents send datagrams."""
BY_FORCE = 33
"""Linux's SO_RCVBUFFORCE, which only a privileged process may use and Python does not name."""
CLOCK_READS = 2_000
CLOCK_ROUNDS = 25
_COARSE = 6
"""CLOCK_MONOTONIC_COARSE, which Python gives no name."""


class Observed(Struct, frozen=True):
    """The machine as it was during the look."""

    load: disturbance.Load
    clock_read_ns: float
    memory_available_bytes: int
    swap_used_bytes: int
    cgroup: str | None
    """Which control groups govern this process: ``v1``, ``v2``; None where none are visible."""
    throttled_ns: int | None
    """Time for which this process was stopped by a quota since its control groups exist; None without a quota."""
    other_run: str | None
    """The process of a run that measures now; None where there is none."""
    root: bool
    receive_buffer_bytes: int | None
    """The most that the kernel gives a socket for datagrams, as it says when asked for more."""


def observe(isolation: Isolation, seconds: float, root: Path = Path("/")) -> Observed:
    """Look for ``seconds``, in which this process sleeps."""
    start, own = disturbance.machine_cpu(isolation.watched, root), time.process_time_ns()
    time.sleep(seconds)
    end, own = disturbance.machine_cpu(isolation.watched, root), time.process_time_ns() - own
    return Observed(
        load=disturbance.between(start, end, own, isolation.share),
        clock_read_ns=clock_read_ns(),
        memory_available_bytes=memory_available(root),
        swap_used_bytes=max(0, meminfo(root, "SwapTotal") - meminfo(root, "SwapFree")),
        cgroup=cgroup_version(root),
        throttled_ns=read_throttling(root),
        other_run=holder(),
        root=os.geteuid() == 0,
        receive_buffer_bytes=receive_buffer(),
    )


def receive_buffer() -> int | None:
    """The receive buffer that a socket for datagrams gets here when it asks as the sink does; None without sockets."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            try:
                datagrams.setsockopt(socket.SOL_SOCKET, BY_FORCE, WANTED_BUFFER_BYTES)
            except OSError:
                datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WANTED_BUFFER_BYTES)
            # the kernel doubles what it grants, for its own book-keeping, and tells that
            return datagrams.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
    except OSError:
        return None


def clock_read_ns() -> float:
    """Cost of one reading of CLOCK_MONOTONIC, ns.

    The same Python call on CLOCK_MONOTONIC_COARSE, which only copies a number out of shared memory on every machine,
    is taken off: what remains is the clock itself, with the way into the kernel where it needs one.
    """
    return max(0.0, _call_ns(time.CLOCK_MONOTONIC) - _call_ns(_COARSE))


def _call_ns(clock: int) -> float:
    """The cheapest of several rounds, so that what else runs plays no part."""
    read = time.clock_gettime_ns
    best = float("inf")
    for _ in range(CLOCK_ROUNDS):
        begun = time.perf_counter_ns()
        for _ in range(CLOCK_READS):
            read(clock)
        best = min(best, (time.perf_counter_ns() - begun) / CLOCK_READS)
    return best
