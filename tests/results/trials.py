"""Finished trials as they would stand in a run folder."""

from typing import Any

from tracetax.kinds.calltree import TreeParameters
from tracetax.ledger import Ledger
from tracetax.model import BASELINE, Use
from tracetax.results.records import Cell, Durations, Moments, Role, SteadyPart, TrialRecord

PARAMETERS = TreeParameters(calls=1000, depth=10)
HEAP = 64 << 20


def ledger(expected: int = 0, received: int | None = None, dropped: int = 0, **changes: Any) -> Ledger:
    """An account in which everything arrived, unless told otherwise."""
    received = expected if received is None else received
    values: dict[str, Any] = {
        "expected": expected,
        "received": received,
        "dropped_reported": dropped,
        "expected_trees": expected // 10,
        "complete_trees": received // 10,
        "unexpected": {},
        "other_bytes": {},
    }
    zeros = (
        "partial_trees orphans duplicates unexpected_names end_before_start malformed cut_off evicted_records refused "
        "bytes requests first_arrival_ns last_arrival_ns"
    )
    nothing: dict[str, Any] = dict.fromkeys(zeros.split(), 0)
    return Ledger(**(nothing | values | changes))


def durations(mean: float) -> Durations:
    """Durations around ``mean``."""
    return Durations(mean=mean, median=mean, p90=mean * 1.1, p99=mean * 1.2, p999=mean * 2, max=mean * 9, count=1000)


def record(
    number: int = 1,
    block: int = 1,
    role: Role = "configuration",
    mean: float = 1000.0,
    *,
    block_size: int = 3,
    status: str = "ok",
    part: str = "p",
    agent: str = "fake",
    configuration: str = "flat",
    build: str = "",
    **changes: Any,
) -> TrialRecord:
    """One trial; a baseline where the role says so."""
    use = Use(agent, configuration, build) if role == "configuration" else BASELINE
    values: dict[str, Any] = {
        "number": number,
        "block": block,
        "block_size": block_size,
        "cell": Cell(part, use, HEAP, role),
        "parameters": PARAMETERS,
        "attempt": 1,
        "status": status,
        "verdicts": (),
        "command": ("java",),
        "environment": {},
        "started_at": "2026-01-01T00:00:00",
        "moments": Moments(spawned=1, first_call=10**9, last_call=2 * 10**9, drained=2 * 10**9),
        "ledger": ledger(10_000 if role == "configuration" else 0),
        "service": durations(mean),
        "steady": SteadyPart(kind="flat", first_bin=0, bins=1000, change_points=()),
        "allocated_bytes_per_call": 0.0,
        "clock_resolution_ns": 10.0,
        "arrived_asked_ns": 2 * 10**9,
        "arrived_by_last_call": 10_000 if role == "configuration" else 0,
    }
    return TrialRecord(**(values | changes))


def blocks(
    count: int, mean: float = 1000.0, base: float = 100.0, spread: float = 0.0, **changes: Any
) -> list[TrialRecord]:
    """Whole blocks of one configuration and its two baselines; ``spread`` separates odd from even blocks."""
    found: list[TrialRecord] = []
    for block in range(1, count + 1):
        shift = spread if block % 2 else -spread
        at = 3 * (block - 1)
        found += [
            record(at + 1, block, "baseline-1", base),
            record(at + 2, block, "configuration", mean + shift, **changes),
            record(at + 3, block, "baseline-2", base + 2),
        ]
    return found
