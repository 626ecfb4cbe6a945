"""Warm-up: bursts of at most a quarter of the agent's queue, each awaited, until the code is compiled; then a rest.

A burst counts as awaited when no more than a quarter of the queue, and what the agent holds back, is outstanding:
exporters that send in batches keep a partial batch back, and waiting for it after each burst would take a flush
interval every time. The last burst is awaited in full, so that the measured phase starts with nothing outstanding.

The rest lasts until the runtime has compiled what the warm-up made it compile. Some compile by threads of their own,
from a queue that may be seconds long when the last call of the warm-up returns. What they use after the first
measured call would be charged to the measured calls, of which it is no doing; where the baselines' is more than an
agent's, the agent would even seem to save compiling.
"""

import sys
import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tracetax.kinds import declaration_of
from tracetax.machine.threads import Work
from tracetax.model import Configuration, Delivery, Parameters
from tracetax.printable import printable
from tracetax.run.context import Arrivals, TrialContext
from tracetax.words import plural
from tracetax.workloads.driver import CALLS_FAILED, TOP_TIER, Status, WorkloadFailed

LARGEST_BURST_RECORDS = 20_000
POLL_SECONDS = 0.001
REST_QUIET_SECONDS = 0.02
"""Compilers that neither ran nor wanted to for so long have nothing in their queues."""
REST_POLL_SECONDS = 0.004


class Warmed(Struct, frozen=True):
    """What the warm-up came to."""

    calls: int
    bursts: int
    how: str
    """How the driver knew which tier its code is compiled in."""
    driver_level: int
    method_level: int
    records: int
    """Records that the warm-up should have produced."""
    connected: bool
    """Whether any of them came."""


NOT_WARMED = Warmed(
    calls=0, bursts=0, how="none", driver_level=TOP_TIER, method_level=TOP_TIER, records=0, connected=False
)
"""Of a trial whose first call is what is measured."""


def burst_calls(config: Configuration, parameters: Parameters, delivers: bool) -> int:
    """Calls in one burst, whose records take a quarter of the queue at most if the kind of the calls allows it."""
    records = LARGEST_BURST_RECORDS
    if delivers and config.queue is not None:
        records = min(records, config.queue // 4)
    return declaration_of(parameters).burst_calls(parameters, config, records)


def enough(config: Configuration) -> int:
    """Records that may be outstanding when the next burst begins.

    That is what the agent holds back and a quarter of its queue, in a queue that has room for the next burst even
    if all of it lies there.
    """
    queue = config.queue or 4 * LARGEST_BURST_RECORDS
    return max(config.held_back, min(config.held_back + queue // 4, queue // 2))


def warm_up(context: TrialContext, arrivals: Arrivals) -> Warmed:
    """Warm the workload up and wait until all its records have come, or none is to come any more.

    Raises WorkloadFailed and SinkLost.
    """
    driver, parameters, limits = context.driver, context.parameters, context.limits
    kind = declaration_of(parameters)
    config = replace(context.config, queue=kind.queue_records(parameters, context.config))
    work_seconds = kind.work_ns(parameters) / 1e9
    size = burst_calls(config, parameters, context.delivers)
    outstanding = enough(config)
    burst_limit = limits.burst + size * work_seconds
    deadline = time.monotonic() + limits.warm_up + 2 * context.least_warm_up_calls * work_seconds
    calls = bursts = 0
    settled = False

    def records() -> int:
        return kind.records_made(parameters, config, calls) if context.delivers else 0

    def burst(calls_in_it: int) -> Status:
        nonlocal calls, bursts, settled
        driver.say(f"warm-up {calls_in_it}")
        status = driver.wait_for("warmed", burst_limit, interval=POLL_SECONDS)
        if status.values.get("failed", "0") != "0":
            driver.look_beside()
            why = printable(status.text.partition(" because ")[2])
            text = f"{plural(status.number('failed'), 'call')} of the warm-up failed"
            raise WorkloadFailed(CALLS_FAILED, f"{text}. One of them: {why}" if why else text)
        calls += calls_in_it
        bursts += 1
        arrivals.wait(records() - outstanding)
        if arrivals.seen and not settled:
            settled = True
            # what it lost before it had connected is written off here: from now on nothing is waited for in vain
            arrivals.wait(records() - config.held_back)
        return status

    while True:
        status = burst(size)
        level = status.number("driver"), status.number("method")
        hot = min(level) >= TOP_TIER and calls >= context.least_warm_up_calls
        context.watch(f"warming up, {calls:,} calls")
        if (hot and (arrivals.seen or arrivals.given_up or not context.delivers)) or time.monotonic() > deadline:
            break
    if context.delivers:
        for more in rounding_bursts(calls, size, config, parameters):
            status = burst(more)
    context.watch("warmed up, waiting for the last records")
    # of what samples, or of calls of which the first make more records, only the quiet tells that no more is to come
    unknown = config.delivery is Delivery.SAMPLED or (kind.sorts(parameters) and config.protocol)
    due = sys.maxsize if unknown else records() - config.held_until_exit
    arrivals.wait(due, last=True)
    return Warmed(
        calls=calls,
        bursts=bursts,
        how=status.values.get("how", "unknown"),
        driver_level=status.number("driver"),
        method_level=status.number("method"),
        records=records(),
        connected=arrivals.seen,
    )


def rounding_bursts(calls: int, size: int, config: Configuration, parameters: Parameters) -> list[int]:
    """Bursts that bring the records of the warm-up to a whole number of the agent's batches, if it sends batches.

    Then nothing is left for the flush interval to send, which would have to be waited for.
    """
    if not config.flush_interval_ns or not config.held_back:
        return []
    missing = declaration_of(parameters).calls_to_whole(parameters, config, calls, config.held_back + 1)
    return [size] * (missing // size) + ([missing % size] if missing % size else [])


class Rest(Struct, frozen=True):
    """What the wait for the runtime's compilers came to."""

    waited_ns: int
    compiling_ns: int
    """CPU that the compilers used during the wait."""
    reached: bool
    """Whether the compilers came to rest; False where the limit ended the wait."""


NO_REST = Rest(waited_ns=0, compiling_ns=0, reached=True)
"""Of a runtime whose compilers have no threads that are known: nothing is waited for."""


def await_rest(look: Callable[[], Work], limit_seconds: float) -> Rest:
    """Wait until no compiler of the runtime works or wants to, as ``look`` tells."""
    began = time.monotonic()
    first = latest = look()
    quiet_since = began
    while True:
        time.sleep(REST_POLL_SECONDS)
        now, at = look(), time.monotonic()
        if now.wanted or now.cpu_ns != latest.cpu_ns:
            quiet_since = at
        latest = now
        reached = at - quiet_since >= REST_QUIET_SECONDS
        if reached or at - began > limit_seconds:
            return Rest(round((at - began) * 1e9), max(0, latest.cpu_ns - first.cpu_ns), reached)
