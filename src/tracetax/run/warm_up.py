"""Warm-up: bursts of at most a quarter of the agent's queue, each awaited at the sink, until the code is compiled.

A burst counts as awaited when no more than a quarter of the queue, and what the agent holds back, is outstanding:
exporters that send in batches keep a partial batch back, and waiting for it after each burst would take a flush
interval every time. The last burst is awaited in full, so that the measured phase starts with nothing outstanding.
"""

import math
import sys
import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tracetax.companions.receiver import Receiver
from tracetax.model import Configuration, Delivery, Parameters
from tracetax.run.bench import Limits
from tracetax.run.drops import DropLog
from tracetax.run.files import Growth
from tracetax.workloads.calltree import CHUNK_CALLS, TOP_TIER, Driver, Status

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
    connected: bool


def burst_calls(config: Configuration, parameters: Parameters, delivers: bool) -> int:
    """Calls in one burst: a quarter of the queue at most, in whole chunks if possible, and at least one per thread."""
    records = LARGEST_BURST_RECORDS
    if delivers and config.queue is not None:
        records = min(records, config.queue // 4)
    calls = records // config.records_per_call(parameters.depth)
    whole = CHUNK_CALLS * parameters.threads
    return max(parameters.threads, calls - calls % whole if calls > whole else calls)


def enough(config: Configuration) -> int:
    """Records that may be outstanding when the next burst begins.

    That is what the agent holds back and a quarter of its queue, in a queue that has room for the next burst even
    if all of it lies there.
    """
    queue = config.queue or 4 * LARGEST_BURST_RECORDS
    return max(config.held_back, min(config.held_back + queue // 4, queue // 2))


def warm_up(
    driver: Driver,
    sink: Receiver,
    drops: DropLog,
    config: Configuration,
    parameters: Parameters,
    *,
    delivers: bool,
    limits: Limits,
    watch: Callable[[str], None],
    waits: Growth | None = None,
) -> Warmed:
    """Warm the workload up and wait until the sink has everything, or until ``waits`` says so.

    Raises WorkloadFailed and SinkLost.
    """
    config = replace(config, queue=config.queue_records(parameters.depth))
    per_call = config.records_per_call(parameters.depth) if delivers else 0
    size = burst_calls(config, parameters, delivers)
    outstanding = enough(config)
    burst_limit = limits.burst + size * parameters.method_time_ns / 1e9
    deadline = time.monotonic() + limits.warm_up + 2 * LEAST_CALLS * parameters.method_time_ns / 1e9
    quiet_ns = config.flush_interval_ns + round(limits.quiet * 1e9)
    arrivals = waits or Arrivals(sink, drops, quiet_ns, round(limits.connect * 1e9))
    calls = bursts = 0
    settled = False

    def burst(calls_in_it: int) -> Status:
        nonlocal calls, bursts, settled
        driver.say(f"warm-up {calls_in_it}")
        status = driver.wait_for("warmed", burst_limit, interval=POLL_SECONDS)
        calls += calls_in_it
        bursts += 1
        arrivals.wait(calls * per_call - outstanding)
        if arrivals.seen and not settled:
            settled = True
            # what it lost before it had connected is written off here: from now on nothing is waited for in vain
            arrivals.wait(calls * per_call - config.held_back)
        return status

    while True:
        status = burst(size)
        level = status.number("driver"), status.number("method")
        hot = min(level) >= TOP_TIER and calls >= LEAST_CALLS
        watch(f"warming up, {calls:,} calls")
        if (hot and (arrivals.seen or arrivals.given_up or not delivers)) or time.monotonic() > deadline:
            break
    for more in rounding_bursts(calls, size, config, per_call):
        status = burst(more)
    watch("warmed up, waiting for the last records")
    # of what samples, only the quiet tells that no more is to come
    due = sys.maxsize if config.delivery is Delivery.SAMPLED else calls * per_call - config.held_until_exit
    arrivals.wait(due, last=True)
    return Warmed(
        calls=calls,
        bursts=bursts,
        how=status.values.get("how", "unknown"),
        driver_level=status.number("driver"),
        method_level=status.number("method"),
        records=calls * per_call,
        connected=arrivals.seen,
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


class Arrivals:
    """Waits for records at the sink, and learns from waiting in vain.

    What is missing after a full quiet wait is written off: the next wait is not for it. After ``PATIENCE`` such waits,
    or where nothing at all has arrived for long, bursts are not awaited any more; the verdict on the loss comes later.
    """

    PATIENCE = 3

    def __init__(self, sink: Receiver, drops: DropLog, quiet_ns: int, connect_ns: int = 0) -> None:
        """``quiet_ns``: silence after which nothing more is expected; ``connect_ns``: how long an agent may take from
        the first wait on until something of it arrives."""
        self._sink = sink
        self._drops = drops
        self._quiet_ns = quiet_ns
        self._connect_ns = connect_ns
        self._written_off = 0
        self._in_vain = 0
        self._first_ns = 0
        self.seen = False

    @property
    def given_up(self) -> bool:
        """Whether waiting has become pointless."""
        if self.seen:
            return self._in_vain >= self.PATIENCE
        return self._in_vain > 0 and time.monotonic_ns() - self._first_ns > self._connect_ns

    def wait(self, target: int, *, last: bool = False) -> None:
        """Wait until ``target`` records have arrived or been dropped, less what is written off.

        The ``last`` wait is made in any case: after it the account of the warm-up is closed. It is for every record,
        since one that was written off may only have been late, and must not stand in for another.
        """
        since = time.monotonic_ns()
        self._first_ns = self._first_ns or since
        while last or not self.given_up:
            counts = self._sink.counts()
            if counts.records > 0 and not self.seen:
                self.seen, self._in_vain = True, 0
            missing = target - counts.records - self._drops.total()
            if missing <= (0 if last else self._written_off):
                return
            if time.monotonic_ns() - max(since, counts.last_arrival_ns) > self._quiet_ns:
                self._written_off = missing
                self._in_vain += 1
                return
            time.sleep(POLL_SECONDS)
