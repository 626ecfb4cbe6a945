"""The call tree: a call is a chain of ``depth`` invocations of one monitored method, as in MooBench."""

import math

from msgspec.structs import replace

from tracetax.agent import Configuration, Delivery
from tracetax.kinds import Declaration
from tracetax.parameters import FULL, Offers, Parameters, Rate, Wait
from tracetax.words import plural

CHUNK_CALLS = 16
"""Calls that a driver makes in one go; a compiler that counts sees these chunks when it decides what to compile."""
WARM_UP_CALLS = 25_000
"""About as many as it takes until the driver is compiled, for estimates of time."""
CALLS_AT_FULL_SPEED = 200_000
"""Calls of a trial back to back in the search for the highest rate."""
LONGEST_INVOCATION_SECONDS = 50e-6
"""Within which an invocation is over, its record included, on a slow machine."""
SAMPLE_BYTES = 8


class TreeParameters(Parameters, frozen=True, kw_only=True, tag="calltree"):
    """What one call of the driver is."""

    depth: int
    method_time_ns: int = 0
    """How long the leaf works."""
    wait: Wait = "spin"


def traced(parameters: TreeParameters, config: Configuration) -> int:
    """Invocations that are left of a call tree."""
    depth = parameters.depth
    return depth if config.tree_limit is None else min(depth, config.tree_limit)


def records_per_call(parameters: TreeParameters, config: Configuration) -> int:
    """Records of one call tree."""
    return traced(parameters, config) * config.records_per_invocation


class CallTree(Declaration[TreeParameters]):
    """What the call tree declares."""

    parameters = TreeParameters
    unit = "invocation"
    compared = "service"

    def units(self, parameters: TreeParameters, calls: int) -> int:
        """Invocations: each call has as many as its tree is deep."""
        return calls * parameters.depth

    def records_made(self, parameters: TreeParameters, config: Configuration, calls: int) -> int:
        """All call trees make equally many."""
        return calls * records_per_call(parameters, config)

    def records_truncated(self, parameters: TreeParameters, config: Configuration, calls: int) -> int:
        """What lies deeper than the agent's limit."""
        return calls * (parameters.depth - traced(parameters, config)) * config.records_per_invocation

    def queue_records(self, parameters: TreeParameters, config: Configuration) -> int | None:
        """A queue of whole trees holds the more records the deeper they are."""
        return config.queue if config.queue_trees is None else config.queue_trees * records_per_call(parameters, config)

    def receiver_options(self, parameters: TreeParameters, config: Configuration) -> tuple[str, ...]:
        """A whole tree is a chain of records as long as this."""
        return "--depth", str(traced(parameters, config))

    def burst_calls(self, parameters: TreeParameters, config: Configuration, most_records: int) -> int:
        """In whole chunks if possible, and at least one call per thread."""
        calls = most_records // records_per_call(parameters, config)
        whole = CHUNK_CALLS * parameters.threads
        return max(parameters.threads, calls - calls % whole if calls > whole else calls)

    def calls_to_whole(self, parameters: TreeParameters, config: Configuration, calls: int, batch: int) -> int:
        """Fewer than a batch has records."""
        calls_per_batch = batch // math.gcd(batch, records_per_call(parameters, config))
        return -calls % calls_per_batch

    def work_ns(self, parameters: TreeParameters) -> int:
        """The work at the leaf."""
        return parameters.method_time_ns

    def longest_seconds(self, parameters: TreeParameters) -> float:
        """Twice the work, and time for every record."""
        seconds = self.units(parameters, parameters.calls) * LONGEST_INVOCATION_SECONDS
        return seconds + 2 * parameters.calls * parameters.method_time_ns / parameters.threads / 1e9

    def trial_seconds(self, parameters: TreeParameters, config: Configuration | None) -> float:
        """Start, warm-up, calls, drain, end.

        The constants are what trials took on a 2-core virtual machine; from the second block on, measured times replace
        it.
        """
        start = 1.0 + (3.0 if parameters.start_up_built else 0.0)
        full = parameters.rate == FULL
        invocations = self.units(parameters, parameters.calls)
        calls = parameters.calls * 0.1e-6 if full else parameters.calls / float(parameters.rate) + 1.0
        calls += (parameters.calls + WARM_UP_CALLS) * parameters.method_time_ns / parameters.threads / 1e9
        if config is None:
            return start + calls
        calls += 0.3e-6 * invocations if full else 0.0
        if config.delivery in (Delivery.NONE, Delivery.AGGREGATED):
            return start + 0.5 + calls
        if not config.flush_interval_ns:
            return start + 1.5 + calls + (0.0 if full else 1.5)
        drain = 1.2e-6 * invocations if config.delivery is Delivery.COMPLETE else 0.2e-9 * config.flush_interval_ns
        return start + 8.0 + calls + drain

    def sample_bytes(self, parameters: TreeParameters) -> int:
        """An int64 per call, at a rate three of them."""
        return parameters.calls * SAMPLE_BYTES * (1 if parameters.rate == FULL else 3)

    def callers_spin(self, parameters: TreeParameters) -> bool:
        """At a rate, where callers are told to."""
        return parameters.rate != FULL and parameters.wait == "spin"

    def at_rate(self, parameters: TreeParameters, rate: Rate, seconds: float) -> TreeParameters | None:
        """As many calls as are due in that time, and at least one per thread."""
        calls = CALLS_AT_FULL_SPEED if rate == FULL else max(parameters.threads, round(rate * seconds))
        return replace(parameters, rate=rate, calls=calls)

    def parameters_to_check(self, offers: Offers) -> TreeParameters:
        """Ten seconds of trees as deep as MooBench's."""
        return TreeParameters(calls=1_000, depth=10, rate=100.0, wait=offers.wait[0])

    def words(self, parameters: TreeParameters) -> str:
        """Calls, their depth, rate, threads, work and what the program calls at its start."""
        rate = "back to back" if parameters.rate == FULL else f"at {parameters.rate:,g} calls/s"
        threads = plural(parameters.threads, "thread")
        work = f", {parameters.method_time_ns:,} ns of work at the leaf" if parameters.method_time_ns else ""
        built = ", built in each trial" if parameters.start_up_built else ""
        methods = parameters.start_up_methods
        start = f", after {methods:,} methods at the start{built}" if methods else ""
        calls = f"{plural(parameters.calls, 'call')} × {plural(parameters.depth, 'invocation')}"
        return f"{calls}, {rate}, {threads}{work}{start}"


KIND = CallTree()
