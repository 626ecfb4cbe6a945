import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracetax.statistics.multiplicity import holm, rank_with_ties

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def table(*means: float, blocks: int = 10, noise: float = 1.0, seed: int = 1) -> np.ndarray:
    """Configurations with these means, in blocks that share a drift."""
    rng = np.random.default_rng(seed)
    return np.array(means) + rng.normal(0, 50, (blocks, 1)) + rng.normal(0, noise, (blocks, len(means)))


def test_holm_by_hand() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1 and never falling.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


def test_holm_of_one_is_itself_and_of_none_is_none() -> None:
    np.testing.assert_array_equal(holm([0.2]), [0.2])
    assert holm([]).size == 0


def test_holm_ends_at_one() -> None:
    np.testing.assert_array_equal(holm([0.6, 0.7]), [1, 1])


@given(P_VALUES)
def test_holm_keeps_the_order_and_lies_between_no_correction_and_bonferroni(p_values: list[float]) -> None:
    p, adjusted = np.array(p_values), holm(p_values)
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * p.size) + 1e-12).all()


@given(P_VALUES)
def test_holm_does_not_depend_on_the_order(p_values: list[float]) -> None:
    np.testing.assert_array_equal(holm(p_values[::-1]), holm(p_values)[::-1])


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan])
def test_holm_refuses_what_is_no_probability(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"p values"):
        holm([0.5, wrong])


def test_clear_differences_are_ranked_and_drift_of_blocks_cancels() -> None:
    assert rank_with_ties(table(300, 100, 200)).ranks == (3, 1, 2)


def test_what_cannot_be_told_apart_shares_a_rank_and_the_next_one_is_skipped() -> None:
    assert rank_with_ties(table(100, 100.1, 200)).ranks == (1, 1, 3)


def test_ties_are_with_the_leader_of_the_group_so_that_small_steps_do_not_chain() -> None:
    # Neighbours cannot be told apart, the ends can.
    values = table(100, 101, 102, blocks=10, noise=1.0, seed=6)
    pairs = {(pair.first, pair.second): pair.p_holm for pair in rank_with_ties(values).pairs}
    assert pairs[0, 1] > 0.05
    assert pairs[1, 2] > 0.05
    assert pairs[0, 2] <= 0.05
    assert rank_with_ties(values).ranks == (1, 1, 3)


def test_all_pairs_of_the_table_are_corrected_for() -> None:
    ranking = rank_with_ties(table(100, 101, 102, 103))
    assert len(ranking.pairs) == 6
    np.testing.assert_array_equal([pair.p_holm for pair in ranking.pairs], holm([pair.p for pair in ranking.pairs]))


def test_equal_configurations_share_the_first_rank_in_95_percent_of_tables() -> None:
    runs = 400
    tied = sum(
        rank_with_ties(table(100, 100, 100, 100, blocks=8, seed=seed)).ranks == (1, 1, 1, 1) for seed in range(runs)
    )
    assert tied / runs >= 0.925


def test_one_block_tells_nothing_apart() -> None:
    assert rank_with_ties([[1.0, 100.0]]).ranks == (1, 1)


def test_a_missing_block_is_left_out_of_its_pairs_only() -> None:
    values = table(100, 200, 300)
    values[3, 1] = np.nan
    ranking = rank_with_ties(values)
    assert ranking.ranks == (1, 2, 3)
    assert [pair.difference.n for pair in ranking.pairs if pair.difference] == [9, 10, 9]


def test_configurations_without_a_common_block_tie() -> None:
    assert rank_with_ties([[1.0, np.nan], [np.nan, 9.0]]).ranks == (1, 1)


def test_exact_values_are_ranked_exactly() -> None:
    assert rank_with_ties([[1.0, 2.0, 1.0]] * 3).ranks == (1, 3, 1)


def test_a_log_ratio_finds_what_drift_hides_from_the_difference() -> None:
    drift = np.geomspace(1, 1000, 10)[:, None]
    values = drift * np.array([100.0, 110.0]) * np.random.default_rng(2).normal(1, 0.01, (10, 2))
    assert rank_with_ties(values).ranks == (1, 1)
    assert rank_with_ties(values, "log-ratio").ranks == (1, 2)


def test_a_configuration_without_values_is_refused() -> None:
    with pytest.raises(ValueError, match="without any value"):
        rank_with_ties([[1.0, np.nan], [1.0, np.nan]])


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.permutations(range(5)))
def test_ranks_follow_their_columns(seed: int, order: list[int]) -> None:
    values = table(100, 101, 102, 150, 151, seed=seed)
    ranks = np.array(rank_with_ties(values).ranks)
    np.testing.assert_array_equal(rank_with_ties(values[:, order]).ranks, ranks[order])
