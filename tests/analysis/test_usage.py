"""The rate at which a service uses so much CPU: the way there, its interval, and what an agent takes of it."""

from itertools import pairwise
from typing import Literal

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, experiment
from tracetax.analysis.usage import lost, outcome_at_usage, rate_at_usage, rates_at, with_ratios
from tracetax.model import BASELINE, Part, Search, Use
from tracetax.results.capacity import CapacityFinding, CapacityTrial
from tracetax.results.usage import FIRST_RATE, LARGEST_STEP, TRIES, kept_rate, next_at_usage
from tracetax.service import Usage
from tracetax.statistics.intervals import Estimate

SEARCH = Search(seconds=10.0, further=3, usage=Usage(0.75, 1.0, "75 % of 1 core"))
IDLE_CORES = 0.02


def at(
    number: int, rate: float, cores: float | None, counts: Literal["complete", "not-made", "failed"] = "complete"
) -> CapacityTrial:
    """A trial at a rate that used so many cores."""
    return CapacityTrial(number, rate, rate, counts, 0, 0, 0, cores)


def walked(cpu_seconds: float, search: Search = SEARCH) -> list[CapacityTrial]:
    """The trials of a search for a service whose requests cost so much, whatever the rate."""
    trials: list[CapacityTrial] = []
    while (rate := next_at_usage(trials, search).rate) is not None:
        assert len(trials) < 30
        trials.append(at(len(trials) + 1, float(rate), IDLE_CORES + float(rate) * cpu_seconds))
    return trials


@pytest.mark.parametrize("cpu_us", [20.0, 160.0, 1_200.0, 40_000.0])
def test_the_search_ends_where_a_service_uses_what_was_asked_for(cpu_us: float) -> None:
    trials = walked(cpu_us / 1e6)
    found = rate_at_usage(trials, SEARCH)
    truth = (0.75 - IDLE_CORES) / (cpu_us / 1e6)
    assert found and found.rate.mean == pytest.approx(truth, rel=0.01)
    assert outcome_at_usage(trials, SEARCH) == "bracket"
    assert len({trial.rate for trial in trials}) <= TRIES


def test_no_step_is_larger_than_an_idle_service_can_tell() -> None:
    rates = [float(trial.rate) for trial in walked(10e-6)]
    assert rates[0] == FIRST_RATE
    assert max(later / earlier for earlier, later in pairwise(rates)) <= LARGEST_STEP


def test_the_trial_that_found_the_rate_does_not_count() -> None:
    trials = [at(1, 500.0, 0.80), at(2, 500.0, 0.75), at(3, 500.0, 0.76), at(4, 500.0, 0.74)]
    assert rates_at(trials, SEARCH) == pytest.approx((500.0, 500 * 0.75 / 0.76, 500 * 0.75 / 0.74))


def test_a_rate_that_was_kept_stays_whatever_comes_later() -> None:
    trials = [at(1, 500.0, 0.75), at(2, 500.0, 1.5)]
    assert kept_rate(trials, SEARCH) == 500.0
    assert next_at_usage(trials, SEARCH).rate == 500.0


def test_a_service_that_never_comes_near_is_measured_where_the_way_ended() -> None:
    jumping = [at(place, 100.0 * place, 0.3 if place % 2 else 2.0) for place in range(1, TRIES + 1)]
    assert kept_rate(jumping, SEARCH) == 100.0 * TRIES


def test_a_rate_that_the_load_cannot_make_ends_the_search_without_an_answer() -> None:
    trials = [at(1, 100.0, 0.05), at(2, 800.0, 0.6, "not-made")]
    assert next_at_usage(trials, SEARCH).rate is None
    assert outcome_at_usage(trials, SEARCH) == "none-made"


def test_a_service_that_is_at_its_limit_is_tried_at_a_lower_rate() -> None:
    trials = [at(1, 100.0, 0.15), replace(at(2, 500.0, 0.98, "not-made"), offered=440.0)]
    assert next_at_usage(trials, SEARCH).rate == pytest.approx(440 * 0.75 / 0.98, rel=0.01)
    assert outcome_at_usage(trials, SEARCH) == "unfinished"


def test_where_busy_services_need_less_for_a_request_the_steps_are_longer() -> None:
    """The use of a Go service grew with about the power 0.6 of the rate."""
    trials: list[CapacityTrial] = []
    while (rate := next_at_usage(trials, SEARCH).rate) is not None:
        trials.append(at(len(trials) + 1, float(rate), 0.75 * (float(rate) / 20_000) ** 0.6))
    assert len({trial.rate for trial in trials}) == 5
    assert kept_rate(trials, SEARCH) == pytest.approx(20_000, rel=0.05)


def test_a_step_goes_by_no_growth_that_a_single_trial_makes_up() -> None:
    noise = [at(1, 1_000.0, 0.60), at(2, 1_200.0, 0.59)]  # the use fell while the rate rose
    assert next_at_usage(noise, SEARCH).rate == pytest.approx(1_200 * (0.75 / 0.59) ** 2, rel=0.01)
    near = [at(1, 1_000.0, 0.60), at(2, 1_050.0, 0.60)]  # too near to tell
    assert next_at_usage(near, SEARCH).rate == pytest.approx(1_050 * 0.75 / 0.60, rel=0.01)


def test_trials_that_fail_twice_end_the_search() -> None:
    trials = [at(1, 100.0, 0.05), at(2, 800.0, None, "failed"), at(3, 800.0, None, "failed")]
    assert outcome_at_usage(trials, SEARCH) == "failed"


def finding(part: str, trials: list[CapacityTrial]) -> CapacityFinding:
    """What a search found of one part, before it is related to the others."""
    return CapacityFinding(
        *(part, "a", "A", "1", "", "c", part.title(), "lossy", 1, 1, None, None, "bracket", None, None),
        *(True, None, None, "", tuple(trials)),
        at_usage=rate_at_usage(trials, SEARCH),
    )


def test_what_an_agent_takes_is_paired_by_the_rounds_of_the_search() -> None:
    part: Part = experiment(configuration("flat")).parts[0]
    parts = {
        "without": replace(part, name="without", uses=(BASELINE,)),
        "with": replace(part, name="with", uses=(Use("fake", "flat"),)),
    }
    drift = (1.0, 1.1, 1.2)
    without = [at(1, 600.0, 0.75), *(at(2 + k, 600.0, 0.75 * by) for k, by in enumerate(drift))]
    traced = [at(1, 450.0, 0.75), *(at(2 + k, 450.0, 0.75 * by) for k, by in enumerate(drift))]
    findings = with_ratios([finding("without", without), finding("with", traced)], parts, SEARCH)
    ratio = findings[1].at_usage and findings[1].at_usage.ratio
    assert ratio and ratio.mean == pytest.approx(0.75)
    assert ratio.ci95 == pytest.approx((0.75, 0.75))
    assert findings[0].at_usage and findings[0].at_usage.ratio is None
    assert "25 % (25 to 25 %) less than without an agent" in findings[1].text
    assert "uses 75 % of 1 core at" in findings[0].text


def test_a_rate_that_is_drawn_out_from_far_is_told_as_such() -> None:
    part: Part = experiment(configuration("flat")).parts[0]
    parts = {"far": replace(part, name="far", uses=(BASELINE,))}
    way = [at(place, 100.0 * place, 0.5 + place / 1_000) for place in range(1, TRIES + 1)]
    trials = [*way, *(at(TRIES + k, 100.0 * TRIES, 0.6) for k in (1, 2, 3))]
    (far,) = with_ratios([finding("far", trials)], parts, SEARCH)
    assert "uses 75 % of 1 core at 750" in far.text
    assert "where it used 0.60 cores: drawn out in proportion" in far.text


def test_what_cannot_be_told_from_no_agent_is_said_so() -> None:
    assert lost(Estimate(0.98, 0.05, (0.92, 1.04), 4)) == "2.0 % (-4.0 to 8.0 %)"
