import numpy as np
import pytest
from msgspec.structs import replace

from tracetax.statistics.intervals import t_critical
from tracetax.statistics.regimes import NO_FURTHER, Starts
from tracetax.statistics.stopping import (
    BlockValues,
    BuildValues,
    Decision,
    SampleProgress,
    StopRule,
    decide,
    projected_blocks,
)

RULE = StopRule(min_blocks=10, max_blocks=30, half_width_ratio=0.01, half_width_ns=2.0)


def with_sd(n: int, sd: float, mean: float = 0.0) -> np.ndarray:
    """n values with exactly this mean and standard deviation."""
    shape = np.sin(np.arange(n) * 2.4)
    return mean + sd * (shape - shape.mean()) / shape.std(ddof=1)


def sample(n: int, sd_ratio: float, sd_ns: float = 1000.0, mean: float = 0.0) -> BlockValues:
    return block_values(with_sd(n, sd_ratio, mean), with_sd(n, sd_ns, mean * sd_ns / sd_ratio))


def block_values(
    log_ratios: np.ndarray, differences_ns: np.ndarray, cpu_ns: np.ndarray | None = None, starts: Starts = NO_FURTHER
) -> BlockValues:
    """Blocks with these log ratios and these differences; both baselines of a block are the same."""
    baseline = differences_ns / np.expm1(log_ratios)
    return BlockValues(baseline + differences_ns, baseline, baseline, cpu_ns, starts)


def judged(values: BlockValues, done: int = 10, affordable: int = 100) -> str:
    return decide({"kieker": values}, RULE, done, affordable).configurations["kieker"].status


WIDE_AT_10 = 0.01 * 10**0.5 / t_critical(9)
"""The standard deviation whose half-width at ten blocks is exactly the one asked."""


def test_a_ratio_as_narrow_as_asked_settles() -> None:
    assert judged(sample(10, WIDE_AT_10 * 0.999)) == "settled"
    assert judged(sample(10, WIDE_AT_10 * 1.001)) == "open"


def test_a_difference_as_narrow_as_asked_settles_too() -> None:
    assert judged(sample(10, 1.0, sd_ns=WIDE_AT_10 * 200 * 0.999)) == "settled"
    assert judged(sample(10, 1.0, sd_ns=WIDE_AT_10 * 200 * 1.001)) == "open"


def test_when_all_have_settled_the_run_stops() -> None:
    decision = decide({"a": sample(10, 0.001), "b": sample(10, 0.002)}, RULE, 10, 100)
    assert (decision.stop, decision.reason) == (True, "settled")


def test_one_open_configuration_keeps_the_run_going() -> None:
    decision = decide({"a": sample(10, 0.001), "b": sample(10, WIDE_AT_10 * 1.2)}, RULE, 10, 100)
    assert (decision.stop, decision.reason) == (False, None)


def test_nothing_settles_before_the_fewest_blocks() -> None:
    decision = decide({"a": sample(9, 0.0001)}, RULE, 9, 100)
    assert not decision.stop
    assert decision.configurations["a"].status == "open"


def test_before_the_fewest_blocks_nothing_is_given_up() -> None:
    assert judged(sample(3, 5.0), done=3) == "open"


def test_the_effect_has_no_say() -> None:
    for sd in (0.001, WIDE_AT_10 * 1.2):
        assert judged(sample(10, sd, mean=0.0)) == judged(sample(10, sd, mean=3.0))


def test_the_most_blocks_stop_the_run() -> None:
    assert decide({"a": sample(30, 1.0)}, RULE, 30, 100).reason == "max-blocks"


def test_the_budget_stops_the_run_even_before_the_fewest_blocks() -> None:
    assert decide({"a": sample(4, 1.0)}, RULE, 4, 0).reason == "budget"


def test_settled_is_the_reason_even_with_the_last_block() -> None:
    assert decide({"a": sample(30, 0.001)}, RULE, 30, 0).reason == "settled"


def test_with_the_last_block_the_reason_is_not_settled_while_one_is_not() -> None:
    samples = {"a": sample(30, 0.001), "b": sample(30, 1.0)}
    assert decide(samples, RULE, 30, 100).reason == "max-blocks"
    assert decide(samples, RULE, 30, 0).reason == "max-blocks"


def test_at_the_end_of_the_budget_the_reason_is_not_settled_while_one_is_not() -> None:
    assert decide({"a": sample(12, 0.001), "b": sample(12, 1.0)}, RULE, 12, 0).reason == "budget"


def test_while_budget_is_left_a_row_that_is_not_settled_keeps_the_run_going() -> None:
    """An earlier rule ended here, with half of the budget left, because 0.5 would not become 0.01."""
    decision = decide({"quiet": sample(10, 0.001), "noisy": sample(10, 0.5)}, RULE, 10, 100)
    assert (decision.stop, decision.reason) == (False, None)
    assert {name: one.status for name, one in decision.configurations.items()} == {"quiet": "settled", "noisy": "open"}


def test_it_says_what_half_width_the_blocks_that_still_fit_will_buy() -> None:
    values = sample(10, 0.1)
    for affordable, blocks in ((6, 16), (100, 30)):
        progress = decide({"noisy": values}, RULE, 10, affordable).configurations["noisy"]
        assert progress.attainable == pytest.approx(t_critical(blocks - 1) * 0.1 / blocks**0.5)


def test_what_ranks_has_to_be_narrow_too() -> None:
    """CPU per record ranks: its interval may be twice as wide as the ratio's, of its own mean, or 2 ns per call."""

    def values(sd_of_mean: float, mean: float = 3_000.0) -> BlockValues:
        return block_values(with_sd(10, 0.001), with_sd(10, 1_000.0), with_sd(10, sd_of_mean * mean, mean))

    def status(sd_of_mean: float, mean: float = 3_000.0) -> str:
        return judged(values(sd_of_mean, mean))

    assert status(2 * WIDE_AT_10 * 0.999) == "settled"
    assert status(2 * WIDE_AT_10 * 1.001) == "open"
    assert status(2 * WIDE_AT_10 * 1.9, mean=50.0) == "settled"
    progress = decide({"a": values(0.1)}, RULE, 10, 9).configurations["a"]
    assert progress.half_width_cpu == pytest.approx(t_critical(9) * 0.1 / 10**0.5)


def test_a_run_without_a_configuration_that_counts_has_not_settled() -> None:
    assert decide({}, RULE, 12, 5).reason is None
    assert decide({}, RULE, 30, 5).reason == "max-blocks"


def test_the_projection_is_the_number_of_blocks_at_which_the_width_is_reached() -> None:
    for blocks in (2, 3, 10, 17, 30, 400):
        sd = 0.01 * blocks**0.5 / t_critical(blocks - 1)
        assert projected_blocks(sd * 0.9999, 0.01) == blocks
        assert projected_blocks(sd * 1.0001, 0.01) == blocks + 1


def test_the_projection_takes_the_easier_of_ratio_and_difference_and_no_less_than_the_fewest_blocks() -> None:
    decision = decide({"a": sample(10, 1.0, sd_ns=200 * WIDE_AT_10 * 1.2), "b": sample(10, 0.001)}, RULE, 10, 100)
    assert decision.configurations["a"].projected_blocks == projected_blocks(200 * WIDE_AT_10 * 1.2, 2.0)
    assert decision.configurations["b"].projected_blocks == 10


def test_half_widths_are_reported() -> None:
    progress = decide({"a": sample(10, 0.02, sd_ns=30.0)}, RULE, 10, 100).configurations["a"]
    assert progress.half_width_ratio == pytest.approx(t_critical(9) * 0.02 / 10**0.5)
    assert progress.half_width_ns == pytest.approx(t_critical(9) * 30 / 10**0.5)


def test_a_configuration_with_one_block_is_open() -> None:
    progress = decide({"a": BlockValues([105.0], [100.0], [100.0])}, RULE, 12, 100).configurations["a"]
    assert (progress.status, progress.projected_blocks, progress.half_width_ns) == ("open", None, None)


def test_the_same_values_give_the_same_decision() -> None:
    samples = {"a": sample(12, 0.01), "b": sample(12, 0.03)}
    first, second = decide(samples, RULE, 12, 5), decide(samples, RULE, 12, 5)
    assert isinstance(first, Decision)
    assert first == second


def builds(n: int, sd_ratio: float, log_ratio: float = 0.0, first: float = 1_000.0) -> BuildValues:
    return BuildValues(np.full(n, first), first * np.exp(with_sd(n, sd_ratio, log_ratio)))


def compared(values: BuildValues, done: int = 10, affordable: int = 100) -> str:
    return decide({"new against old": values}, RULE, done, affordable).configurations["new against old"].status


def test_a_comparison_of_builds_settles_when_its_ratio_is_as_narrow_as_asked() -> None:
    assert compared(builds(10, WIDE_AT_10 * 0.999)) == "settled"
    assert compared(builds(10, WIDE_AT_10 * 1.001)) == "open"


def test_of_short_calls_the_ratio_need_be_no_narrower_than_the_difference() -> None:
    assert compared(builds(10, WIDE_AT_10 * 1.9, first=100.0)) == "settled"
    assert compared(builds(10, WIDE_AT_10 * 2.1, first=100.0)) == "open"


def test_builds_that_differ_beyond_doubt_need_no_narrow_interval_but_the_fewest_blocks() -> None:
    assert compared(builds(10, WIDE_AT_10 * 3, log_ratio=0.3)) == "settled"
    assert compared(builds(9, WIDE_AT_10 * 3, log_ratio=0.3), done=9) == "open"


def test_an_open_comparison_keeps_the_run_going() -> None:
    decision = decide({"a": sample(10, 0.001), "b against a": builds(10, WIDE_AT_10 * 1.2)}, RULE, 10, 100)
    assert not decision.stop


STARTS = replace(RULE, starts=36)


def regimes(blocks: int, slow_in_blocks: int = 0, further: int = 0, slow_further: int = 0) -> SampleProgress:
    """What is decided of a quiet configuration with so many blocks, further starts, and slow starts (× 1.7) in each."""

    def starts(n: int, slow: int) -> np.ndarray:
        return 1_050.0 * np.exp(with_sd(n, 0.004)) * np.where(np.arange(n) < slow, 1.7, 1.0)

    baseline = 1_000.0 * np.exp(with_sd(blocks, 0.003)[::-1])
    more = Starts(tuple(starts(further, slow_further)) if further else (), (1_000.0,) * 40)
    values = BlockValues(starts(blocks, slow_in_blocks), baseline, baseline, None, more)
    return decide({"a": values}, STARTS, blocks, 100).configurations["a"]


def test_a_narrow_configuration_is_started_further_alone_before_it_counts_as_measured() -> None:
    progress = regimes(blocks=10)
    assert (progress.status, progress.wants_block, progress.starts_wanted) == ("settled", False, 26)
    progress = regimes(blocks=10, further=26)
    assert (progress.status, progress.starts_wanted, progress.baseline_starts_wanted) == ("settled", 0, 0)


def test_while_it_is_measured_in_blocks_no_start_is_made_alone() -> None:
    values = sample(10, WIDE_AT_10 * 1.2)
    progress = decide({"a": values}, STARTS, 10, 100).configurations["a"]
    assert (progress.wants_block, progress.starts_wanted) == (True, 0)


def test_a_slow_start_among_the_further_ones_asks_for_more_blocks() -> None:
    """Ten blocks met no slow start, and their interval was narrow: it covered the usual regime only."""
    progress = regimes(blocks=10, further=26, slow_further=1)
    assert (progress.status, progress.wants_block) == ("open", True)
    assert not regimes(blocks=30, slow_in_blocks=3, further=6, slow_further=1).wants_block


def test_until_three_slow_starts_were_seen_there_are_up_to_sixty_blocks() -> None:
    assert regimes(blocks=30, slow_in_blocks=2).wants_block
    assert not regimes(blocks=30, slow_in_blocks=3).wants_block
    assert regimes(blocks=59, slow_in_blocks=1).wants_block
    assert not regimes(blocks=60, slow_in_blocks=1).wants_block


def test_a_run_of_few_blocks_has_no_more_of_them_for_a_slow_start() -> None:
    values = np.where(np.arange(12) < 1, 1.7, 1.0) * 1_050.0 * np.exp(with_sd(12, 0.01))
    baseline = 1_000.0 * np.exp(with_sd(12, 0.01)[::-1])
    rule = replace(STARTS, max_blocks=12)
    assert decide({"a": BlockValues(values, baseline, baseline)}, rule, 12, 100).reason == "max-blocks"
