"""What was expected, what arrived, what the agent admits to have dropped: the account of one trial's records."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct


class Sampling(Struct, frozen=True):
    """How a sampler chooses the calls that it records: one in so many, or so many in a time."""

    one_in: int = 1
    by: Literal["count", "chance", "time"] = "count"
    """``count``: exactly every so-manyth; ``chance``: each by itself, with that probability; ``time``: the first ones
    of each window.
    """
    at_most: int = 0
    """By time: the calls of a window that it records, where so many are made."""
    per_ns: int = 0
    """By time: how long a window is."""


class RecordCounts(Struct, frozen=True, kw_only=True):
    """What is counted of the records of one phase, by a receiver as in the account of a trial."""

    complete_trees: int = 0
    partial_trees: int = 0
    orphans: int = 0
    """Records whose parent never came."""
    duplicates: int = 0
    unexpected_names: int = 0
    unexpected: dict[str, int] = {}
    """Names outside the expected one with their counts; at most 16, the rest under ``"…"``."""
    end_before_start: int = 0
    malformed: int = 0
    cut_off: int = 0
    """Messages that ended in their middle because their sender left; a sender may send them again."""
    evicted_records: int = 0
    """Records that the sink's memory could not hold until their tree was complete."""
    refused: int = 0
    """Requests turned away because the sink's memory was spent."""
    lost_datagrams: int = 0
    """Datagrams that found no room in the kernel's buffer; -1 where the kernel does not tell."""
    receive_buffer_bytes: int = 0
    """The size of that buffer, as the kernel says; 0 where the protocol has none."""
    bytes: int = 0
    other_bytes: dict[str, int] = {}
    """Bytes of signals that are answered and not counted as records, such as metrics and logs."""
    requests: int = 0
    first_arrival_ns: int = 0
    """CLOCK_MONOTONIC, as all times here; 0 where nothing arrived."""
    last_arrival_ns: int = 0


class ProtocolCount(RecordCounts, frozen=True, kw_only=True):
    """What the sink counted on one protocol in one phase."""

    records: int = 0
    """Those of the expected name."""
    grpc_at_http: int = 0
    """Connections that spoke gRPC to a port for HTTP/1."""
    http_at_grpc: int = 0
    """Connections that spoke HTTP/1 to a port for gRPC."""
    evicted_trees: int = 0
    unanswered: int = 0
    """Requests of the sink's own, for the agent's metrics, that brought no answer after there had been one."""
    reported_drops: int = 0
    """Records that the protocol itself reports as dropped."""
    limited_trees: int = 0
    """Trees that the agent says it has limited in size."""
    limited_records: int = 0
    """Records that it says it has left out of these."""
    scopes: dict[str, int] = {}
    """Records by what the protocol says has made them, such as an instrumentation of one library."""


def summed(counts: Iterable[ProtocolCount]) -> ProtocolCount:
    """The counts of several protocols as one."""
    every = list(counts)
    sums: dict[str, Any] = {}
    for field in ProtocolCount.__struct_fields__:
        values = [getattr(count, field) for count in every]
        if field in ("unexpected", "other_bytes", "scopes"):
            merged = Counter[str]()
            for value in values:
                merged.update(value)
            sums[field] = dict(merged)
        else:
            sums[field] = sum(values)
    arrivals = [count.first_arrival_ns for count in every if count.first_arrival_ns]
    sums["first_arrival_ns"] = min(arrivals, default=0)
    sums["last_arrival_ns"] = max((count.last_arrival_ns for count in every), default=0)
    return ProtocolCount(**sums)


class Ledger(RecordCounts, frozen=True, kw_only=True):
    """The account of one phase (warm-up or measured) of one trial: what was expected beside what was counted."""

    expected: int
    """Records that the configuration promises: 0 where nothing is promised."""
    received: int
    """Records with the expected name that arrived."""
    dropped_reported: int
    """Records that the agent admits to have dropped, in its log or by its protocol."""
    expected_trees: int
    truncated: int = 0
    """Records that were never made because the agent cuts call trees by design: neither expected nor lost."""
    made: int = 0
    """Records that the calls make if every one of them is recorded: what the share of a sample is of."""
    due_least: int = 0
    """The fewest records that the sampler lets through; 0 where it does not sample, or by time."""
    due_most: int = 0
    """The most that it lets through."""

    @property
    def complete(self) -> bool:
        """Whether every promised record arrived, in whole trees."""
        return self.received == self.expected and self.complete_trees == self.expected_trees

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
        truncated=truncated,
        made=made,
        due_least=due[0],
        due_most=due[1],
        **{name: getattr(count, name) for name in RecordCounts.__struct_fields__},
    )
