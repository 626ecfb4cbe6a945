"""The wait between warm-up and measured calls: until the JVM has compiled what the warm-up made it compile.

Code is compiled by threads of the JVM's own, from a queue that may be seconds long when the last call of the warm-up
returns. What they use after the first measured call would be charged to the measured calls, of which it is no doing;
where the baselines' is more than an agent's, the agent would even seem to save compiling.
"""

import time
from collections.abc import Callable

from msgspec import Struct

from tracetax.machine.threads import Work, compiling

QUIET_SECONDS = 0.02
"""Compilers that neither ran nor wanted to for so long have nothing in their queues."""
POLL_SECONDS = 0.004


class Rest(Struct, frozen=True):
    """What the wait came to."""

    waited_ns: int
    compiling_ns: int
    """CPU that the compilers used meanwhile."""
    reached: bool
    """Whether they came to rest; False where the limit ended the wait."""


def await_rest(pid: int, limit_seconds: float, look: Callable[[int], Work] = compiling) -> Rest:
    """Wait until no compiler of a JVM works or wants to. A process that is gone, or has no compilers, is at rest."""
    began = time.monotonic()
    first = latest = look(pid)
    quiet_since = began
    while True:
        time.sleep(POLL_SECONDS)
        now, at = look(pid), time.monotonic()
        if now.wanted or now.cpu_ns != latest.cpu_ns:
            quiet_since = at
        latest = now
        reached = at - quiet_since >= QUIET_SECONDS
        if reached or at - began > limit_seconds:
            return Rest(round((at - began) * 1e9), max(0, latest.cpu_ns - first.cpu_ns), reached)
