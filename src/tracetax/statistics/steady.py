"""Which part of a trial is steady: the part its value is the mean of. Barrett et al. (2017), relative tolerances."""

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from tracetax.statistics.change_points import change_points, without_outliers
from tracetax.statistics.intervals import Floats, finite

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


def steady_part(bin_means: ArrayLike, *, equivalence: float = EQUIVALENCE) -> Steady:
    """Return the steady part of a trial: its last segment, extended backwards over equivalent ones.

    A segment is equivalent to the last one when their means differ by at most ``equivalence`` of the last one's, or
    by two standard errors, with their outliers or without. (Barrett's tolerance adds a variance to a mean, which
    depends on the unit.) Walking back from the last segment, the first that is not equivalent ends the steady part,
    unless it is a stall: at most 5 % of the bins and then the same level again. When the steady part begins within
    the last quarter there is none, and the last half stands in, labelled. ``slow-down``: something before it was
    faster; ``warm-up``: all that differs was slower; ``flat``: nothing differs.

    Args:
        bin_means: Shape (n,), mean duration of consecutive bins of equally many calls, ns.
        equivalence: Relative tolerance.

    Raises:
        ValueError: No bin, or a mean that is not finite.

    """
    y = finite(bin_means, "bin means")
    calm = without_outliers(y)
    changes = change_points(calm)
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
    first_bin = begins[first]
    if first_bin > (1 - LAST_PART) * y.size:
        kind, first_bin = "no-steady-state", y.size // 2
    return Steady(kind, first_bin, y.size - first_bin, changes)


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
