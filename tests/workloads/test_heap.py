"""Used heap over time from what the JVM tells of collections: mean, variation, pauses."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetax.results.records import HeapUse
from tracetax.workloads.heap import MS_NS, Collection, Collections, heap_use, moments

MIB = 1 << 20


def use(*each: Collection, begin: int = 0, end: int = 1_000, further: int = 0) -> HeapUse | None:
    """Of a window in ms since the start of the JVM, which began 5 s after the clock; used: 10 MiB, then 20."""
    snapshots = {
        "first_call": {"monotonic_ns": 5e9 + begin * MS_NS, "heap_used_bytes": 10 * MIB},
        "last_call": {"monotonic_ns": 5e9 + end * MS_NS, "heap_used_bytes": 20 * MIB},
    }
    at_end = Collections(uptime_ms=2_000, monotonic_ns=7_000 * MS_NS, each=each, further=further)
    return heap_use(snapshots, at_end)


def collection(start_ms: int, duration_ms: int = 4, before: int = 110, after: int = 10, name: str = "G1") -> Collection:
    return Collection(name, start_ms, duration_ms, before * MIB, after * MIB)


def test_without_a_collection_the_heap_grows_evenly() -> None:
    found = use()
    assert found is not None
    assert (found.collections, found.pause_ns, found.longest_pause_ns) == (0, 0, 0)
    assert found.mean_bytes == pytest.approx(15 * MIB)
    assert found.cv == pytest.approx(10 / math.sqrt(12) / 15)


def test_a_saw_of_collections_has_the_deviation_of_an_even_spread() -> None:
    saw = [collection(100 * number, 0) for number in range(1, 10)]
    found = use(*saw)
    assert found is not None
    assert (found.collections, found.pause_ns) == (9, 0)
    assert found.cv == pytest.approx(100 / math.sqrt(12) / 60, rel=0.15)


def test_only_collections_between_first_and_last_call_count() -> None:
    found = use(collection(99, 50), collection(300, 3), collection(700, 8), collection(901, 50), begin=100, end=900)
    assert found is not None
    assert (found.collections, found.pause_ns, found.longest_pause_ns) == (2, 11 * MS_NS, 8 * MS_NS)


def test_of_a_collector_that_works_beside_the_program_only_the_pauses_are_pauses() -> None:
    found = use(
        collection(300, 200, name="ZGC Cycles"),
        collection(300, 1, 110, 110, name="ZGC Pauses"),
        collection(450, 2, 60, 60, name="ZGC Pauses"),
    )
    assert found is not None
    assert (found.collections, found.pause_ns, found.longest_pause_ns) == (1, 3 * MS_NS, 2 * MS_NS)


def test_where_too_many_were_to_be_kept_nothing_is_told() -> None:
    assert use(collection(300), further=1) is None
    assert heap_use({}, Collections(0, 0, (), 0)) is None


@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 10**9)), min_size=2, max_size=20))
def test_moments_are_those_of_the_line_through_the_points(points: list[tuple[int, int]]) -> None:
    points = sorted(points, key=lambda point: point[0])
    pieces = [(a, b) for a, b in pairwise(points) if b[0] > a[0]]
    mean, cv = moments([(float(at), float(used)) for at, used in points])
    if not pieces or not any(low or high for (_, low), (_, high) in pieces):
        assert (mean, cv) == (0.0, None)
        return
    values = np.concatenate([np.linspace(a[1], b[1], 2_001)[:-1] + (b[1] - a[1]) / 4_000 for a, b in pieces])
    weights = np.concatenate([np.full(2_000, b[0] - a[0]) for a, b in pieces])
    expected = float(np.average(values, weights=weights))
    assert mean == pytest.approx(expected, rel=1e-6)
    assert cv == pytest.approx(math.sqrt(np.average((values - expected) ** 2, weights=weights)) / expected, abs=1e-3)
