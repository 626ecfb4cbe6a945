"""Which part of a trial is steady, and the trial's value. Barrett et al. (2017), with relative tolerances."""

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.change_points import change_points, without_outliers
from tracetax.statistics.intervals import Floats

Kind = Literal["flat", "warm-up", "slow-down", "no-steady-state"]
EQUIVALENCE = 0.05
"""Segments whose means differ by less are the same (Traini et al. 2022 use ± 5 % too)."""
LAST_PART = 0.25
"""A steady part that does not begin before the last quarter is none (Barrett: the last 500 of 2,000 iterations)."""
STALL = 0.05
"""A departure no longer than this, from a level and back to it, is a stall: part of the steady part, not its end."""


class Steady(Struct, frozen=True):
    """The bins a trial's value is taken from."""

    kind: Kind
    first_bin: int
    """Where it begins; it goes on to the end."""
    bins: int
    change_points: tuple[int, ...]
    """First bin of every segment but the first."""


def steady_part(
    bin_means: ArrayLike,
    bin_counts: ArrayLike | None = None,
    *,
    equivalence: float = EQUIVALENCE,
    tick: float = 0.0,
) -> Steady:
    """Return the steady part of a trial: its last segment, extended backwards over equivalent ones.

    A segment is equivalent to the last one when their means differ by at most ``equivalence`` of the last one's, or
    by two standard errors, with their outliers or without. (Barrett's tolerance adds a variance to a mean, which
    depends on the unit.) Walking back from the last segment, the first that is not equivalent ends the steady part,
    unless it is a stall: at most 5 % of the bins and then the same level again. When the steady part begins within
    the last quarter there is none, and the last half stands in, labelled. ``slow-down``: something before it was
    faster; ``warm-up``: all that differs was slower; ``flat``: nothing differs.

    Args:
        bin_means: Shape (n,), mean duration of consecutive bins of calls, ns; NaN where a bin has no call.
        bin_counts: Shape (n,), calls per bin; a bin with 0 is left out.
        equivalence: Relative tolerance.
        tick: The clock's step, ns: the mean of m calls is taken to be known to tick/√m.

    Raises:
        ValueError: No bin with a call, infinite or differently shaped arguments.

    """
    means, counts = _bins(bin_means, bin_counts)
    filled = np.flatnonzero(~np.isnan(means))
    y = means[filled]
    resolution = tick / float(np.sqrt(max(1.0, np.median(counts[filled]))))
    calm = without_outliers(y, resolution=resolution)
    changes = change_points(calm, resolution=resolution)
    differences = _differences_from_last(np.split(y, changes), np.split(calm, changes), equivalence)
    begins = (0, *changes)
    first = len(changes)
    for earlier in range(first - 1, -1, -1):
        if differences[earlier] == 0:
            if begins[first] - begins[earlier + 1] > STALL * y.size:
                break
            first = earlier
    before = [difference for difference in differences[:first] if difference != 0]
    kind: Kind = "flat"
    if before:
        kind = "slow-down" if min(before) < 0 else "warm-up"
    first_bin = int(filled[begins[first]]) if first else 0
    if first_bin > (1 - LAST_PART) * means.size:
        kind, first_bin = "no-steady-state", means.size // 2
    return Steady(kind, first_bin, means.size - first_bin, tuple(int(filled[c]) for c in changes))


def trial_value(bin_means: ArrayLike, bin_counts: ArrayLike | None, steady: Steady) -> float:
    """Return the mean duration of the calls in the steady part, ns: bins weighted by their calls, outliers included.

    Args:
        bin_means: Shape (n,), as for :func:`steady_part`.
        bin_counts: Shape (n,), calls per bin; None weighs bins alike.
        steady: What :func:`steady_part` returned for them.

    Raises:
        ValueError: As :func:`steady_part`, or no call in the steady part.

    """
    means, counts = _bins(bin_means, bin_counts)
    part = slice(steady.first_bin, steady.first_bin + steady.bins)
    filled = ~np.isnan(means[part])
    weights = counts[part][filled]
    if weights.size == 0:
        raise ValueError(f"no call in bins {steady.first_bin} to {steady.first_bin + steady.bins}")
    return float(np.average(means[part][filled], weights=weights))


def _differences_from_last(segments: list[Floats], calm: list[Floats], equivalence: float) -> list[float]:
    """Return for every segment by how much its mean exceeds the last one's; 0 when they are equivalent."""
    return [
        min(
            _difference(segment, segments[-1], equivalence),
            _difference(calm_segment, calm[-1], equivalence),
            key=abs,
        )
        for segment, calm_segment in zip(segments, calm, strict=True)
    ]


def _difference(segment: Floats, last: Floats, equivalence: float) -> float:
    difference = float(segment.mean() - last.mean())
    error = float(np.sqrt(segment.var() / segment.size + last.var() / last.size))
    return 0.0 if abs(difference) <= max(equivalence * abs(float(last.mean())), 2 * error) else difference


def _bins(bin_means: ArrayLike, bin_counts: ArrayLike | None) -> tuple[Floats, Floats]:
    means = np.array(bin_means, dtype=np.float64)
    if means.ndim != 1 or np.isinf(means).any():
        raise ValueError(f"bin means: expected finite numbers or NaN in one dimension, got shape {means.shape}")
    counts = np.ones_like(means) if bin_counts is None else np.asarray(bin_counts, dtype=np.float64)
    if counts.shape != means.shape or not (counts >= 0).all():
        raise ValueError(f"bin counts: expected {means.size} numbers of calls, got shape {counts.shape}")
    means[counts == 0] = np.nan
    if np.isnan(means).all():
        raise ValueError("no bin holds a call")
    return means, counts
