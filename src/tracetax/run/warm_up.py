"""Warm-up: bursts of at most a quarter of the agent's queue, each awaited at the sink, until the code is compiled.

A burst counts as awaited when no more than a quarter of the queue is outstanding: exporters that send in batches keep
a partial batch back, and waiting for it after each burst would take a flush interval every time. The last burst is
awaited in full, so that the measured phase starts with nothing outstanding.
"""

import math
import time
from collections.abc import Callable

from msgspec import Struct

from tracetax.companions.sink import Sink
from tracetax.model import Configuration, Parameters
from tracetax.run.bench import Limits
from tracetax.run.drops import DropLog
from tracetax.workloads.calltree import CHUNK_CALLS, TOP_TIER, Driver

LARGEST_BURST_RECORDS = 20_000
LEAST_CALLS = 10_000
POLL_SECONDS = 0.001


class Warmed(Struct, frozen=True):
    """What the warm-up came to."""

    calls: int
    bursts: int
    how: str
    driver_level: int
    method_level: int
    records: int
    """That it should have produced."""
    dropped: int
    warm: bool
    connected: bool


def burst_calls(config: Configuration, parameters: Parameters, delivers: bool) -> int:
    """Calls in one burst: a quarter of the queue at most, in whole chunks if possible, and at least one per thread."""
    records = LARGEST_BURST_RECORDS
    if delivers and config.queue is not None:
        records = min(records, config.queue // 4)
    calls = records // (parameters.depth * config.records_per_invocation)
    whole = CHUNK_CALLS * parameters.threads
    return max(parameters.threads, calls - calls % whole if calls > whole else calls)


def warm_up(
    driver: Driver,
    sink: Sink,
    drops: DropLog,
    config: Configuration,
    parameters: Parameters,
    *,
    delivers: bool,
    limits: Limits,
    watch: Callable[[str], None],
) -> Warmed:
    """Warm the workload up and wait until the sink has everything. Raises WorkloadFailed and SinkLost."""
    per_call = parameters.depth * config.records_per_invocation if delivers else 0
    size = burst_calls(config, parameters, delivers)
    outstanding = max(config.held_back, (config.queue or 4 * LARGEST_BURST_RECORDS) // 4)
    deadline = time.monotonic() + limits.warm_up
    quiet_ns = config.flush_interval_ns + round(limits.quiet * 1e9)
    calls = bursts = 0
    while True:
        driver.say(f"warm-up {size}")
        status = driver.wait_for("warmed", limits.burst, interval=POLL_SECONDS)
        calls += size
        bursts += 1
        connected = _await(sink, drops, calls * per_call - outstanding, quiet_ns) > 0
        level = int(status.values["driver"]), int(status.values["method"])
        hot = min(level) >= TOP_TIER and calls >= LEAST_CALLS
        watch(f"warming up, {calls:,} calls")
        if (hot and (connected or not delivers)) or time.monotonic() > deadline:
            break
    for more in rounding_bursts(calls, size, config, per_call):
        driver.say(f"warm-up {more}")
        status = driver.wait_for("warmed", limits.burst, interval=POLL_SECONDS)
        calls += more
        bursts += 1
        _await(sink, drops, calls * per_call - outstanding, quiet_ns)
    watch("warmed up, waiting for the last records")
    received = _await(sink, drops, calls * per_call - config.held_until_exit, quiet_ns)
    return Warmed(
        calls=calls,
        bursts=bursts,
        how=status.values["how"],
        driver_level=level[0],
        method_level=level[1],
        records=calls * per_call,
        dropped=drops.total(),
        warm=hot,
        connected=received > 0,
    )


def rounding_bursts(calls: int, size: int, config: Configuration, per_call: int) -> list[int]:
    """Bursts that bring the records of the warm-up to a whole number of the agent's batches, if it sends batches.

    Then nothing is left for the flush interval to send, which would have to be waited for.
    """
    if not config.flush_interval_ns or not config.held_back or not per_call:
        return []
    batch = config.held_back + 1
    calls_per_batch = batch // math.gcd(batch, per_call)
    missing = -calls % calls_per_batch
    return [size] * (missing // size) + ([missing % size] if missing % size else [])


def _await(sink: Sink, drops: DropLog, target: int, quiet_ns: int) -> int:
    """Wait until ``target`` records have arrived or been dropped, or the sink has been quiet; returns the arrived."""
    since = time.monotonic_ns()
    while True:
        counts = sink.counts()
        quiet = time.monotonic_ns() - max(since, counts.last_arrival_ns)
        if counts.records + drops.total() >= target or quiet > quiet_ns:
            return counts.records
        time.sleep(POLL_SECONDS)
