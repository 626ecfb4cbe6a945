"""What a look of a second at the machine shows: who else works, what the clock costs, what is left of its memory."""

import os
import socket
import time
from pathlib import Path

from msgspec import Struct

from tracetax.machine import disturbance
from tracetax.machine.clock import clock_read_ns
from tracetax.machine.isolation import Isolation
from tracetax.machine.limits import cgroup_version, meminfo, memory_available, read_throttling
from tracetax.machine.lock import holder

WANTED_BUFFER_BYTES = 16 << 20
"""What the sink asks for, see ``sink/internal/network/datagrams.go``."""
BY_FORCE = 33
"""Linux's SO_RCVBUFFORCE, which only a privileged process may use and Python does not name."""


class Observed(Struct, frozen=True):
    """The machine as it was during the look."""

    load: disturbance.Load
    clock_read_ns: float
    memory_available_bytes: int
    swap_used_bytes: int
    cgroup: str | None
    """Which control groups govern this process: ``v1``, ``v2``; None where none are visible."""
    throttled_ns: int | None
    """Since the control groups exist; None where no quota is counted."""
    other_run: str | None
    """The process of a run that measures now."""
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
