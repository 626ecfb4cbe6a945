"""Two runs against each other: independent means, for blocks of different runs are no pairs.

Welch (1947): The generalization of "Student's" problem when several different population variances are involved.
Only the mean, the standard deviation and the number of blocks are needed, which every measure keeps.
"""

from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from tracetax.statistics.intervals import CONFIDENCE, Estimate


def welch(first: Estimate, second: Estimate) -> Estimate | None:
    """Return second − first with Welch's 95 % interval, in their unit; None where one of them has a single block.

    ``sd`` of the result is the standard error of the difference, ``n`` the blocks of both. The degrees of freedom are
    Welch's and Satterthwaite's, as they come: no whole number.
    """
    if first.sd is None or second.sd is None or min(first.n, second.n) < 2:
        return None
    shares = first.sd**2 / first.n, second.sd**2 / second.n
    difference, variance = second.mean - first.mean, sum(shares)
    if variance == 0:
        return Estimate(difference, 0.0, (difference, difference), first.n + second.n)
    freedom = variance**2 / (shares[0] ** 2 / (first.n - 1) + shares[1] ** 2 / (second.n - 1))
    half = float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2)) * variance**0.5
    return Estimate(difference, variance**0.5, (difference - half, difference + half), first.n + second.n)


def welch_log_ratio(first: Estimate, second: Estimate) -> Estimate | None:
    """Return ln second − ln first likewise, to first order in their standard errors.

    None too where one of them is not clearly positive: its own interval reaches zero.
    """
    if any(one.ci95 is None or one.ci95[0] <= 0 for one in (first, second)):
        return None
    return welch(*(_logarithm(one) for one in (first, second)))


def _logarithm(of: Estimate) -> Estimate:
    assert of.sd is not None
    return Estimate(float(special.xlogy(1.0, of.mean)), of.sd / of.mean, None, of.n)
