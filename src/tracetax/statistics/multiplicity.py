"""Many comparisons in one table: Holm's correction, and ranks in which ties share a place."""

from itertools import combinations

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.intervals import Estimate, Floats, finite, t_p_value
from tracetax.statistics.overhead import Scale, compare_paired


class Pair(Struct, frozen=True):
    """Two columns of a table compared."""

    first: int
    second: int
    difference: Estimate | None
    """first − second (or its log ratio), paired by block; None with no block in common."""
    p: float
    """Two-sided paired t test; 1 where fewer than two blocks are common."""
    p_holm: float
    """Adjusted over all pairs of the table."""


class Ranking(Struct, frozen=True):
    """Places of a table's columns, and what they rest on."""

    ranks: tuple[int, ...]
    """One per column, in the order given: 1 is the smallest value; tied columns share a rank (1, 1, 3)."""
    pairs: tuple[Pair, ...]


def holm(p_values: ArrayLike) -> Floats:
    """Return p values adjusted so that rejecting those ≤ α keeps the family-wise error rate at α (Holm 1979).

    Args:
        p_values: Shape (m,), each in [0, 1]; m = 0 is allowed.

    Raises:
        ValueError: One lies outside [0, 1] or is NaN.

    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return np.empty(0)
    finite(p, "p values")
    if p.min() < 0 or p.max() > 1:
        raise ValueError("p values lie in [0, 1]")
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def rank_with_ties(values: ArrayLike, scale: Scale = "difference", alpha: float = 0.05) -> Ranking:
    """Return the ranks of configurations; those that cannot be told apart share one.

    Columns are sorted by their mean. The first leads a group; a column joins the group as long as its paired
    comparison with the *leader* is not significant after Holm over all pairs of the table, else it leads the next
    group. Comparing with the leader only keeps the rule transitive: every column is in exactly one group, and no
    chain of small steps ties the best with the worst.

    Args:
        values: Shape (n blocks, k configurations), smaller is better, NaN where a configuration has no value in a
            block; a pair is compared in the blocks that both have.
        scale: ``difference``, or ``log-ratio`` for values that are all positive.
        alpha: Family-wise error rate.

    Raises:
        ValueError: Not two-dimensional, a column without any value, an infinite value.

    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise ValueError(f"expected finite values or NaN in the shape (blocks, configurations), got {table.shape}")
    present = ~np.isnan(table)
    if not present.any(axis=0).all():
        raise ValueError("a configuration without any value cannot be ranked")
    columns = range(table.shape[1])
    compared = [_compare(table, i, j, scale) for i, j in combinations(columns, 2)]
    adjusted = holm([p for _, p in compared])
    pairs = tuple(
        Pair(i, j, difference, p, float(p_holm))
        for (i, j), (difference, p), p_holm in zip(combinations(columns, 2), compared, adjusted, strict=True)
    )
    p_holm = {frozenset((pair.first, pair.second)): pair.p_holm for pair in pairs}
    means = np.nanmean(table, axis=0)
    ranks = [0] * len(columns)
    leader = -1
    for place, column in enumerate(int(c) for c in np.argsort(means, kind="stable")):
        if leader < 0 or p_holm[frozenset((leader, column))] <= alpha:
            leader = column
            ranks[column] = place + 1
        else:
            ranks[column] = ranks[leader]
    return Ranking(tuple(ranks), pairs)


def _compare(table: Floats, i: int, j: int, scale: Scale) -> tuple[Estimate | None, float]:
    both = ~np.isnan(table[:, i]) & ~np.isnan(table[:, j])
    if not both.any():
        return None, 1.0
    estimate = compare_paired(table[both, i], table[both, j], scale)
    if estimate.sd is None:
        return estimate, 1.0
    if estimate.sd == 0:
        return estimate, 1.0 if estimate.mean == 0 else 0.0
    return estimate, t_p_value(estimate.mean / (estimate.sd / estimate.n**0.5), estimate.n - 1)
