"""Samples reduced to bins and exact counts keep every call."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tracetax.results.reduction import BINS, bin_edges, reduce_samples


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=3000))
def test_no_call_is_lost_and_the_mean_survives(durations: list[int]) -> None:
    samples = np.array(durations, dtype=np.int64)
    series, counts = reduce_samples(samples, trial=1, thread=0, kind="service")
    assert series["count"].sum() == counts["count"].sum() == len(samples)
    total = float((counts["duration"] * counts["count"].cast(pl.Int64)).sum())
    assert total == samples.sum()
    assert len(series) == min(BINS, len(samples))


def test_bins_are_in_order_of_calls_and_of_equal_size() -> None:
    edges = bin_edges(2500)
    assert edges[0] == 0
    assert edges[-1] == 2500
    assert set(np.diff(edges)) == {2, 3}


def test_a_bin_tells_its_first_call_its_extremes_and_its_median() -> None:
    samples = np.arange(5000, dtype=np.int64)
    series, _ = reduce_samples(samples, trial=7, thread=2, kind="lateness")
    second = series.row(1, named=True)
    assert (second["trial"], second["thread"], second["kind"], second["bin"]) == (7, 2, "lateness", 1)
    assert (second["first_call"], second["count"], second["min"], second["max"]) == (5, 5, 5, 9)
    assert (second["mean"], second["median"]) == (7.0, 7.0)
