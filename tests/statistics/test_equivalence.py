"""Verdicts on two builds: each kind where it belongs, and wrong no more often than they claim."""

import numpy as np
import pytest

from tracetax.statistics.equivalence import asked_half_width, differs_beyond_doubt, judge
from tracetax.statistics.intervals import Floats, t_critical, t_interval
from tracetax.statistics.stopping import BuildValues, StopRule, decide

RULE = StopRule(min_blocks=10, max_blocks=30, half_width_ratio=0.01, half_width_ns=0.0)
MARGIN = 0.02
CAMPAIGNS = 1_000


def apart(log_ratio: float, sd: float, n: int = 12) -> tuple[Floats, Floats]:
    """Two builds whose log ratios over blocks have exactly this mean and standard deviation."""
    shape = np.sin(np.arange(n) * 2.4)
    shape = (shape - shape.mean()) / shape.std(ddof=1)
    drift = 1_000 * (1 + 0.05 * np.cos(np.arange(n)))
    return drift, drift * np.exp(log_ratio + sd * shape)


def verdict(log_ratio: float, sd: float, n: int = 12) -> str:
    return judge(*apart(log_ratio, sd, n), 0.01, 0.0).verdict


def test_an_interval_on_one_side_of_zero_is_slower_or_faster_however_small_the_difference() -> None:
    assert verdict(0.021, 0.01) == "slower"
    assert verdict(-0.021, 0.01) == "faster"
    assert verdict(0.004, 0.001) == "slower"


def test_an_interval_inside_the_margin_is_the_same() -> None:
    assert verdict(0.001, 0.01) == "same"


def test_not_to_have_found_a_difference_is_not_the_same() -> None:
    assert verdict(0.001, 0.2) == "undecided"


def test_the_interval_that_decides_on_same_is_that_of_two_one_sided_tests() -> None:
    edge = MARGIN / (t_critical(11, 0.90) / 12**0.5)
    assert verdict(0.0, edge * 0.999) == "same"
    assert verdict(0.0, edge * 1.001) == "undecided"


def test_one_block_decides_nothing() -> None:
    assert judge([100.0], [200.0], 0.01, 2.0).verdict == "undecided"


def test_what_the_blocks_share_cancels() -> None:
    first, second = apart(0.001, 0.003)
    assert judge(first, second, 0.01, 0.0).verdict == "same"
    assert judge(first, np.roll(second, 3), 0.01, 0.0).verdict == "undecided"


def test_of_a_short_call_the_time_asked_for_is_the_wider_margin() -> None:
    assert asked_half_width([70.0, 70.0], 0.01, 2.0) == pytest.approx(2 / 70)
    assert asked_half_width([1_000.0, 1_000.0], 0.01, 2.0) == 0.01


@pytest.mark.parametrize("mean_in_margins", np.linspace(0, 1, 21))
def test_a_comparison_as_narrow_as_asked_is_decided_wherever_its_mean_lies(mean_in_margins: float) -> None:
    sd = 0.999 * RULE.half_width_ratio * 12**0.5 / t_critical(11)
    assert verdict(mean_in_margins * MARGIN, sd) != "undecided"


def test_only_a_difference_far_beyond_its_error_is_beyond_doubt() -> None:
    n, sd = 12, 0.01
    critical = t_critical(n - 1, 0.999) * sd / n**0.5
    shape = np.log(apart(0.0, sd)[1] / apart(0.0, sd)[0])
    assert differs_beyond_doubt(t_interval(shape + critical * 1.01))
    assert not differs_beyond_doubt(t_interval(shape + critical * 0.99))


def campaign(random: np.random.Generator, log_ratio: float, sd: float) -> str:
    """The verdict of a run that goes on until the stop rule ends it; block drift 3 %, processes vary by ``sd``."""
    first = np.empty(0)
    second = np.empty(0)
    for n in range(1, RULE.max_blocks + 1):
        drift = np.log(1_000) + 0.03 * random.standard_normal()
        first = np.append(first, np.exp(drift + sd * random.standard_normal()))
        second = np.append(second, np.exp(drift + log_ratio + sd * random.standard_normal()))
        if decide({"new against old": BuildValues(first, second)}, RULE, n, 100).stop:
            break
    return judge(first, second, RULE.half_width_ratio, RULE.half_width_ns).verdict


def share(verdicts: list[str], *wanted: str) -> float:
    return sum(verdict in wanted for verdict in verdicts) / len(verdicts)


@pytest.mark.parametrize("sd", [0.012, 0.03])
def test_equal_builds_are_called_different_as_rarely_as_claimed_through_the_stop_rule(sd: float) -> None:
    random = np.random.default_rng(1)
    verdicts = [campaign(random, 0.0, sd) for _ in range(CAMPAIGNS)]
    assert share(verdicts, "slower", "faster") < 0.08  # 5 %, some for stopping on width, and three standard errors


def test_builds_that_differ_by_the_margin_are_called_the_same_as_rarely_as_claimed_through_the_stop_rule() -> None:
    random = np.random.default_rng(2)
    verdicts = [campaign(random, MARGIN, 0.015) for _ in range(CAMPAIGNS)]
    assert share(verdicts, "same") < 0.05
    assert share(verdicts, "faster") < 0.005


def test_quiet_processes_decide_equal_builds_and_different_ones() -> None:
    random = np.random.default_rng(3)
    assert share([campaign(random, 0.0, 0.01) for _ in range(200)], "same") > 0.9
    assert share([campaign(random, 0.05, 0.01) for _ in range(200)], "slower") == 1.0
