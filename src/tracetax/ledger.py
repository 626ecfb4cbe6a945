"""What was expected, what arrived, what the agent admits to have dropped: the account of one trial's records."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct


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
    evicted_trees: int = 0
    evicted_records: int = 0
    refused: int = 0
    """Requests turned away because the sink's memory was spent."""
    requests: int = 0
    bytes: int = 0
    other_bytes: dict[str, int] = {}
    """Bytes of signals that are answered and not counted as records, such as metrics and logs."""
    reported_drops: int = 0
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


def account(count: ProtocolCount, *, expected_records: int, expected_trees: int, dropped_in_log: int) -> Ledger:
    """Set the sink's count of one phase against what was promised.

    ``dropped_in_log`` is what the agent's own log admits; drops that the protocol itself reports are added.
    """
    return Ledger(
        expected=expected_records,
        received=count.records,
        dropped_reported=dropped_in_log + count.reported_drops,
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
        bytes=count.bytes,
        other_bytes=count.other_bytes,
        requests=count.requests,
        first_arrival_ns=count.first_arrival_ns,
        last_arrival_ns=count.last_arrival_ns,
    )
