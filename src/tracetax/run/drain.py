"""The drain: wait after the last call until nothing more is to come."""

import time
from collections.abc import Callable

from msgspec import Struct

from tracetax.companions.receiver import Receiver
from tracetax.model import Configuration, Delivery
from tracetax.run.bench import Limits
from tracetax.run.drops import DropLog

POLL_SECONDS = 0.05


class Drained(Struct, frozen=True):
    """How the drain ended."""

    at_ns: int
    """The moment of the last arrival, or of the last call."""
    within_limit: bool


def drain(
    sink: Receiver,
    drops: DropLog,
    config: Configuration,
    *,
    phase: str,
    expected: int,
    dropped_before: int,
    last_call_ns: int,
    limits: Limits,
    watch: Callable[[str], None],
) -> Drained:
    """Wait until received + reported drops = expected, or the sink was quiet for longer than the flush interval.

    Of what samples, only the quiet tells that no more is to come.
    """
    sampled = config.delivery is Delivery.SAMPLED
    if expected == 0 and not sampled:
        return Drained(at_ns=last_call_ns, within_limit=True)
    deadline = time.monotonic() + limits.drain_base + expected * limits.drain_per_record
    quiet_ns = max(config.flush_interval_ns, config.pause_ns) + round(limits.quiet * 1e9)
    while True:
        counts = sink.counts()
        arrived = counts.records if counts.phase == phase else 0
        at_ns = max(last_call_ns, counts.last_arrival_ns)
        outstanding = expected - arrived - (drops.total() - dropped_before)
        quiet_for = time.monotonic_ns() - at_ns
        held_back = 0 < outstanding <= config.held_until_exit and quiet_for > quiet_ns // 4
        if not sampled and (outstanding <= 0 or held_back):
            return Drained(at_ns=at_ns, within_limit=True)
        if quiet_for > quiet_ns:
            return Drained(at_ns=at_ns, within_limit=True)
        if time.monotonic() > deadline:
            return Drained(at_ns=at_ns, within_limit=False)
        watch(f"draining, {arrived:,} records" + ("" if sampled else f" of {expected:,}"))
        time.sleep(POLL_SECONDS)
