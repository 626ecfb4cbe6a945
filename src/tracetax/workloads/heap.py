"""The used heap during the measured calls, from what the runtime told of its collections.

Nothing looks at the heap while the calls run. Between two collections it is taken to grow evenly, from what the one
left behind to what the next one found: used heap over time is then a line through these points, and its mean and its
deviation are exact integrals along it.
"""

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from msgspec import Struct

from tracetax.results.records import HeapUse

MS_NS = 1_000_000
CONCURRENT = "Cycles"
"""In the name of a collector whose collections run beside the program: their length is no pause."""
PAUSES = "Pauses"
"""In the name of what such a collector reports its pauses by: those are no further collections."""

ROUNDING = 1e-12
"""Share of the mean's square up to which a variance is one of the arithmetic."""

Point = tuple[float, float]
"""Moment, ns, and used heap, bytes."""


class Collection(Struct, frozen=True):
    """A collection as the runtime tells of it: in ms since its start, with the used heap before and after."""

    collector: str
    start_ms: int
    duration_ms: int
    before_bytes: int
    after_bytes: int


class Collections(Struct, frozen=True):
    """All of a trial, from the first burst of the warm-up on, with two clocks read at the same moment."""

    uptime_ms: int
    monotonic_ns: int
    each: tuple[Collection, ...]
    further: int
    """Those that were too many to be kept."""


def heap_use(snapshots: Mapping[str, Mapping[str, float]], collections: Collections) -> HeapUse | None:
    """Used heap and collections between the snapshots ``first_call`` and ``last_call``; None without these."""
    first, last = snapshots.get("first_call"), snapshots.get("last_call")
    if first is None or last is None or collections.further:
        return None
    if not all("heap_used_bytes" in snapshot for snapshot in (first, last)):
        return None
    begin, end = first["monotonic_ns"], last["monotonic_ns"]
    started_ns = collections.monotonic_ns - collections.uptime_ms * MS_NS

    def start(one: Collection) -> float:
        return started_ns + one.start_ms * MS_NS

    within = sorted((one for one in collections.each if begin <= start(one) <= end), key=start)
    points: list[Point] = [(begin, first["heap_used_bytes"])]
    for one in within:
        if PAUSES not in one.collector:
            points.append((start(one), one.before_bytes))
            points.append((min(end, start(one) + one.duration_ms * MS_NS), one.after_bytes))
    points.append((end, last["heap_used_bytes"]))
    mean, cv = moments(points)
    pauses = [one.duration_ms * MS_NS for one in within if CONCURRENT not in one.collector]
    return HeapUse(
        mean_bytes=mean,
        cv=cv,
        collections=sum(PAUSES not in one.collector for one in within),
        pause_ns=sum(pauses),
        longest_pause_ns=max(pauses, default=0),
    )


def moments(points: Iterable[Point]) -> tuple[float, float | None]:
    """Mean over time of the line through points in order of time, and its coefficient of variation."""
    length = area = squares = 0.0
    for (a, low), (b, high) in pairwise(sorted(points, key=lambda point: point[0])):
        length += b - a
        area += (b - a) * (low + high) / 2
        squares += (b - a) * (low * low + low * high + high * high) / 3
    if not length or not area:
        return 0.0, None
    mean = area / length
    variance = squares / length - mean * mean
    return mean, math.sqrt(variance) / mean if variance > ROUNDING * mean * mean else 0.0
