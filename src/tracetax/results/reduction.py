"""From raw samples to what is kept of them: a series of bins, and exact counts of durations per bin."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

BINS = 1_000

SERIES = {
    "trial": pl.UInt32,
    "thread": pl.UInt16,
    "kind": pl.String,
    "bin": pl.UInt16,
    "first_call": pl.UInt32,
    "count": pl.UInt32,
    "mean": pl.Float64,
    "median": pl.Float64,
    "min": pl.Int64,
    "max": pl.Int64,
}
DISTRIBUTIONS = {
    "trial": pl.UInt32,
    "thread": pl.UInt16,
    "kind": pl.String,
    "bin": pl.UInt16,
    "duration": pl.Int64,
    "count": pl.UInt32,
}


def bin_edges(calls: int, bins: int = BINS) -> NDArray[np.int64]:
    """Indices of the first call of each bin and one past the last, shape (bins + 1,); sizes differ by at most 1."""
    bins = max(1, min(bins, calls))
    return np.linspace(0, calls, bins + 1).astype(np.int64)


def reduce_samples(
    samples: NDArray[np.int64], *, trial: int, thread: int, kind: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Reduce one thread's durations, ns in order of calls, to rows of ``series`` and ``distributions``."""
    edges = bin_edges(len(samples))
    counts = np.diff(edges)
    which = np.repeat(np.arange(len(counts), dtype=np.uint16), counts)
    named = {"trial": trial, "thread": thread, "kind": kind}
    constants = [pl.lit(value).alias(name) for name, value in named.items()]
    calls = pl.DataFrame({"bin": which, "duration": samples})
    series = (
        calls.group_by("bin")
        .agg(
            pl.len().alias("count"),
            pl.col("duration").mean().alias("mean"),
            pl.col("duration").median().alias("median"),
            pl.col("duration").min().alias("min"),
            pl.col("duration").max().alias("max"),
        )
        .sort("bin")
        .with_columns(pl.Series("first_call", edges[:-1]), *constants)
    )
    distributions = (
        calls.group_by("bin", "duration").agg(pl.len().alias("count")).sort("bin", "duration").with_columns(*constants)
    )
    return (
        series.select(pl.col(name).cast(dtype) for name, dtype in SERIES.items()),
        distributions.select(pl.col(name).cast(dtype) for name, dtype in DISTRIBUTIONS.items()),
    )
