"""Which trials count, and which values stand beside each other."""

from tests.results.trials import HEAP, blocks, record
from tracetax.model import Use
from tracetax.results.blocks import baseline_pairs, paired, service_mean, whole_blocks

USE = Use(agent="fake", configuration="flat")


def test_values_of_a_block_stand_beside_its_own_baselines() -> None:
    found = paired(whole_blocks(blocks(3, spread=5)), "p", USE, HEAP, service_mean)
    assert found.blocks == (1, 2, 3)
    assert list(found.values) == [1005, 995, 1005]
    assert list(found.baseline_1) == [100] * 3
    assert list(found.baseline_2) == [102] * 3


def test_an_interrupted_block_counts_for_nothing() -> None:
    trials = blocks(2)[:-1]
    assert list(whole_blocks(trials)) == [1]
    first, second = baseline_pairs(whole_blocks(trials), "p", HEAP, service_mean)
    assert (len(first), len(second)) == (1, 1)


def test_a_block_with_a_failure_is_whole_only_after_its_repetition() -> None:
    trials = [*blocks(1)[:1], blocks(1)[2], record(4, 1, status="failed")]
    assert list(whole_blocks(trials)) == []
    trials.append(record(5, 1, status="failed", attempt=2))
    assert list(whole_blocks(trials)) == [1]
    assert paired(whole_blocks(trials), "p", USE, HEAP, service_mean).blocks == ()


def test_of_a_repeated_trial_the_last_good_one_counts() -> None:
    trials = [*blocks(1), record(4, 1, mean=500.0, attempt=2)]
    assert list(paired(whole_blocks(trials), "p", USE, HEAP, service_mean).values) == [500]


def test_a_repetition_that_fails_does_not_undo_a_good_trial() -> None:
    trials = [*blocks(1), record(4, 1, status="failed", attempt=2)]
    assert list(paired(whole_blocks(trials), "p", USE, HEAP, service_mean).values) == [1000]
