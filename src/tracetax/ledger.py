"""What was expected, what arrived, what the agent admits to have dropped: the account of one trial's records."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct


class Sampling(Struct, frozen=True):
    """How a sampler chooses the calls that it records: one in so many."""

    one_in: int
    by: Literal["count", "chance"]
    """``count``: exactly every so-manyth; ``chance``: each by itself, with that probability."""


class ProtocolCount(Struct, frozen=True):
    """What the sink counted on one protocol in one phase. Times are CLOCK_MONOTONIC nanoseconds."""

    records: int = 0
    complete_trees: int = 0
    partial_trees: int = 0
    orphans: int = 0
    duplicates: int = 0
    unexpected_names: int = 0
    end_before_start: int = 0
    malformed: int = 0
    cut_off: int = 0
    """Messages that ended in their middle because their sender left; a sender may send them again."""
    grpc_at_http: int = 0
    """Connections that spoke gRPC to a port for HTTP/1."""
    http_at_grpc: int = 0
    """Connections that spoke HTTP/1 to a port for gRPC."""
    evicted_trees: int = 0
    evicted_records: int = 0
    refused: int = 0
    """Requests turned away because the sink's memory was spent."""
    unanswered: int = 0
    """Requests of the sink's own, for the agent's metrics, that brought no answer after there had been one."""
    requests: int = 0
    bytes: int = 0
    other_bytes: dict[str, int] = {}
    """Bytes of signals that are answered and not counted as records, such as metrics and logs."""
    reported_drops: int = 0
    lost_datagrams: int = 0
    """Datagrams that found no room in the kernel's buffer; -1 where the kernel does not tell."""
    receive_buffer_bytes: int = 0
    """The size of that buffer, as the kernel says; 0 where the protocol has none."""
    limited_trees: int = 0
    """Trees that the agent says it has limited in size."""
    limited_records: int = 0
    """Records that it says it has left out of these."""
    first_arrival_ns: int = 0
    last_arrival_ns: int = 0
    unexpected: dict[str, int] = {}
    """Names outside the expected one with their counts; at most 16, the rest under ``"…"``."""


def together(counts: Iterable[ProtocolCount]) -> ProtocolCount:
    """The counts of several protocols as one."""
    every = list(counts)
    arrivals = [count.first_arrival_ns for count in every if count.first_arrival_ns]
    sums: dict[str, Any] = {}
    for field in ProtocolCount.__struct_fields__:
        values = [getattr(count, field) for count in every]
        if field in ("unexpected", "other_bytes"):
            merged = Counter[str]()
            for value in values:
                merged.update(value)
            sums[field] = dict(merged)
        else:
            sums[field] = sum(values)
    sums["first_arrival_ns"] = min(arrivals, default=0)
    sums["last_arrival_ns"] = max((count.last_arrival_ns for count in every), default=0)
    return ProtocolCount(**sums)


class Ledger(Struct, frozen=True, kw_only=True):
    """The account of one phase (warm-up or measured) of one trial."""

    expected: int
    """Records that the configuration promises: 0 where nothing is promised."""
    received: int
    """Records with the expected name that arrived."""
    dropped_reported: int
    expected_trees: int
    complete_trees: int
    partial_trees: int
    orphans: int
    duplicates: int
    unexpected_names: int
    unexpected: dict[str, int]
    end_before_start: int
    malformed: int
    cut_off: int = 0
    evicted_records: int
    refused: int = 0
    lost_datagrams: int = 0
    receive_buffer_bytes: int = 0
    truncated: int = 0
    """Records that were never made because the agent cuts call trees by design: neither expected nor lost."""
    made: int = 0
    """Records that the calls make if every one of them is recorded: what the share of a sample is of."""
    due_least: int = 0
    """The fewest records that the sampler lets through; 0 where it does not sample, or by time."""
    due_most: int = 0
    """The most that it lets through."""
    bytes: int
    other_bytes: dict[str, int]
    requests: int
    first_arrival_ns: int
    last_arrival_ns: int

    @property
    def completeness(self) -> float | None:
        """Records received ÷ records expected; None where nothing is promised."""
        return self.received / self.expected if self.expected else None

    @property
    def missing(self) -> int:
        """Records that neither arrived nor were reported as dropped."""
        return max(0, self.expected - self.received - self.dropped_reported)

    @property
    def due(self) -> int:
        """Records that the sampler lets through, the middle of what may be."""
        return (self.due_least + self.due_most) // 2

    @property
    def missing_of_sample(self) -> int:
        """Records that the sampler let through and that never arrived; 0 where so few may have been let through."""
        return self.due - self.received if self.received < self.due_least else 0

    @property
    def missing_in_kernel(self) -> int:
        """How many of the missing records the receiving kernel lost at most: a datagram has those of one call."""
        if self.lost_datagrams <= 0 or not self.expected_trees:
            return 0
        return min(self.missing, self.lost_datagrams * self.expected // self.expected_trees)


def account(
    count: ProtocolCount,
    *,
    expected_records: int,
    expected_trees: int,
    dropped_in_log: int,
    truncated: int = 0,
    made: int = 0,
    due: tuple[int, int] = (0, 0),
) -> Ledger:
    """Set the sink's count of one phase against what was promised.

    ``dropped_in_log`` is what the agent's own log admits; drops that the protocol itself reports are added.
    ``truncated`` is what the agent's limit on call trees takes from what would have been expected, ``made`` what
    there is if it records every call, ``due`` the least and the most that its sampler lets through. What the agent
    says its limit left out, beyond that, is dropped.
    """
    return Ledger(
        expected=expected_records,
        received=count.records,
        dropped_reported=dropped_in_log + count.reported_drops + max(0, count.limited_records - truncated),
        expected_trees=expected_trees,
        complete_trees=count.complete_trees,
        partial_trees=count.partial_trees,
        orphans=count.orphans,
        duplicates=count.duplicates,
        unexpected_names=count.unexpected_names,
        unexpected=count.unexpected,
        end_before_start=count.end_before_start,
        malformed=count.malformed,
        cut_off=count.cut_off,
        evicted_records=count.evicted_records,
        refused=count.refused,
        lost_datagrams=count.lost_datagrams,
        receive_buffer_bytes=count.receive_buffer_bytes,
        truncated=truncated,
        made=made,
        due_least=due[0],
        due_most=due[1],
        bytes=count.bytes,
        other_bytes=count.other_bytes,
        requests=count.requests,
        first_arrival_ns=count.first_arrival_ns,
        last_arrival_ns=count.last_arrival_ns,
    )
