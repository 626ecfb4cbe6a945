"""The ratio of two means of the same blocks: its interval holds the truth as often as it says."""

import numpy as np
import pytest

from tracetax.statistics.fieller import ratio_of_means


def test_the_interval_holds_the_truth_in_95_of_100_where_both_share_a_baseline() -> None:
    random = np.random.default_rng(1)
    held = unbounded = 0
    runs = 4_000
    for _ in range(runs):
        baseline = random.normal(0.0, 20.0, 8)
        found = ratio_of_means(40 + random.normal(0, 15.0, 8) - baseline, 100 + random.normal(0, 15.0, 8) - baseline)
        if found is None or found.ci95 is None:
            unbounded += 1
        else:
            held += found.ci95[0] <= 0.4 <= found.ci95[1]
    assert unbounded < runs / 100
    assert 0.94 <= held / (runs - unbounded) <= 0.96


def test_a_known_example() -> None:
    """Worked by hand: means 2 and 4, variances of the means 1/3 and 1/3, covariance 1/3, t = 4.303."""
    found = ratio_of_means([1, 2, 3], [3, 4, 5])
    assert found is not None
    assert found.mean == pytest.approx(0.5)
    assert found.ci95 == pytest.approx((-0.31938, 0.69156), abs=1e-5)


def test_without_variation_the_ratio_is_exact() -> None:
    found = ratio_of_means([2.0, 2.0], [4.0, 4.0])
    assert found is not None
    assert found.ci95 == (0.5, 0.5)


def test_where_the_denominator_may_be_zero_there_is_no_interval() -> None:
    assert ratio_of_means([1.0, 2.0, 3.0], [-1.0, 1.0, 0.5]) is None
    assert ratio_of_means([1.0], [2.0]) is None
    assert ratio_of_means([1.0, 2.0], [0.0, 0.0]) is None


def test_both_are_of_the_same_blocks() -> None:
    with pytest.raises(ValueError, match="2 and 3 blocks"):
        ratio_of_means([1.0, 2.0], [1.0, 2.0, 3.0])
