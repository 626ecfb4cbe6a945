"""The drain: wait after the last call until nothing more is to come."""

import time
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from tracetax.companions.receiver import Counts, Receiver
from tracetax.model import Configuration, Delivery
from tracetax.run.drops import DropLog
from tracetax.run.equipment import Limits

POLL_SECONDS = 0.05
BUSY_CORES = 0.05
"""What an agent's threads use at least while they still work on records, on a busy machine too."""

Still = Literal["", "busy", "connected"]
"""What an agent does that is silent although records are outstanding: its threads use CPU, or it is connected."""


class Awaited(Struct, frozen=True):
    """What a drain waits for."""

    phase: str
    expected: int
    """Records of the phase."""
    dropped_before: int
    """Drops that the log had admitted before the phase began."""
    last_call_ns: int
    unknown: bool = False
    """Whether records come, and nobody knows how many."""


class Drained(Struct, frozen=True):
    """How the drain ended."""

    at_ns: int
    """The moment of the last arrival, or of the last call."""
    within_limit: bool
    outstanding: int = 0
    """Promised records that had neither arrived nor been reported as dropped."""
    still: Still = ""
    """Why they might have come all the same; empty where nothing spoke for it, or not every record is promised."""
    silent_ns: int = 0
    """For how long nothing had come."""


def drain(
    sink: Receiver,
    drops: DropLog,
    config: Configuration,
    awaited: Awaited,
    limits: Limits,
    agent_cores: Callable[[], float],
    watch: Callable[[str], None],
) -> Drained:
    """Wait until received + reported drops = expected, or the sink was quiet for longer than the flush interval.

    An agent that promises every record and owes some is given more time: up to the limit while its threads use CPU
    (``agent_cores``: cores in the last second), and ``limits.patience`` seconds of silence while it is connected. Of
    what samples, and where nobody knows how many records are due, only the quiet tells that no more is to come.
    """
    expected = awaited.expected
    sampled = config.delivery is Delivery.SAMPLED or awaited.unknown
    if expected == 0 and not sampled:
        return Drained(at_ns=awaited.last_call_ns, within_limit=True)
    deadline = time.monotonic() + limits.drain_base + expected * limits.drain_per_record
    quiet_ns = max(config.flush_interval_ns, config.pause_ns) + round(limits.quiet * 1e9)
    while True:
        counts = sink.counts()
        arrived = counts.records if counts.phase == awaited.phase else 0
        at_ns = max(awaited.last_call_ns, counts.last_arrival_ns)
        outstanding = expected - arrived - (drops.total() - awaited.dropped_before)
        quiet_for = time.monotonic_ns() - at_ns
        held_back = 0 < outstanding <= config.held_until_exit and quiet_for > quiet_ns // 4
        if not sampled and (outstanding <= 0 or held_back):
            return Drained(at_ns=at_ns, within_limit=True)
        owes = outstanding if config.delivery is Delivery.COMPLETE else 0
        over = time.monotonic() > deadline
        if over or quiet_for > quiet_ns:
            still = _still(owes, counts, agent_cores)
            patience_ns = round(limits.patience * 1e9) if still == "connected" else 0
            if over or (still != "busy" and quiet_for > quiet_ns + patience_ns):
                within = quiet_for > quiet_ns and still != "busy"
                return Drained(at_ns, within, max(0, outstanding), still, quiet_for)
        watch(f"draining, {arrived:,} records" + ("" if sampled else f" of {expected:,}"))
        time.sleep(POLL_SECONDS)


def _still(owes: int, counts: Counts, agent_cores: Callable[[], float]) -> Still:
    """What speaks for it that an agent which owes so many promised records is still about to send them."""
    if owes <= 0:
        return ""
    if agent_cores() >= BUSY_CORES:
        return "busy"
    return "connected" if counts.open_connections else ""
