"""How many calls a sampler may let through before it cannot be the sampler any more.

A sampler that counts lets every n-th call through: what it lets through is known to within one call, since its count
does not begin with the calls that are looked at. One that draws lets each call through by chance, independently: the
number is binomial, and 1 in a million says when it is no longer by chance (on each side, for each trial). One that
goes by time lets the first calls of each window through, and nobody knows when its windows begin.
"""

import math

from scipy import special  # pyright: ignore[reportMissingTypeStubs]

UNLIKELY = 1e-6


def by_count(calls: int, one_in: int) -> tuple[int, int]:
    """The least and the most calls of ``calls`` that are let through by one that counts."""
    return max(0, calls // one_in - 1), min(calls, -(-calls // one_in) + 1)


def by_chance(calls: int, one_in: int) -> tuple[int, int]:
    """The least and the most calls of ``calls`` that are let through by one that draws, but for one trial in a million.

    Quantiles of the binomial distribution: fewer than the least come with a probability of at most 1e-6, and so do more
    than the most.
    """
    if one_in == 1:
        return calls, calls
    share = 1.0 / one_in
    least = max(0, math.floor(float(special.bdtrik(UNLIKELY, calls, share))))
    most = min(calls, math.ceil(float(special.bdtrik(1.0 - UNLIKELY, calls, share))))
    return least, most


def by_time(calls: int, at_most: int, per_ns: int, lasted_ns: int) -> tuple[int, int]:
    """The least and the most calls that are let through by one that records the first ``at_most`` of each window.

    The calls are spread evenly over ``lasted_ns``. However the windows of ``per_ns`` lie, one fewer than fit into that
    time are surely whole, and one more than fit is touched at each end. A window that has fewer than twice
    ``at_most`` calls is only counted on for half of them: calls that are late gather in the next one.
    """
    if not calls or not lasted_ns:
        return 0, 0
    windows, in_each = lasted_ns // per_ns, calls * per_ns // lasted_ns
    least = max(0, windows - 1) * min(at_most, in_each // 2)
    return min(calls, least), min(calls, (windows + 2) * at_most)
