"""The intervals hold the truth as often as they say, by the simulation of benchmarks/coverage.py."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "coverage.py"


@pytest.fixture(scope="module")
def simulation() -> Any:
    spec = spec_from_file_location("coverage_simulation", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20170101)


def covered(outcomes: list[Any]) -> float:
    return float(np.mean([one.ratio_holds for one in outcomes]))


def labelled(outcomes: list[Any]) -> float:
    return float(np.mean([one.labelled for one in outcomes]))


def scenario(simulation: Any, begins: str) -> Any:
    return next(one for one in simulation.SCENARIOS if one.name.startswith(begins))


def test_intervals_of_ten_blocks_hold_the_truth_in_93_to_97_percent(simulation: Any, rng: np.random.Generator) -> None:
    outcomes = simulation.fixed(simulation.QUIET, rng, 3000, 10)
    assert 0.935 <= covered(outcomes) <= 0.965
    assert 0.935 <= np.mean([one.difference_holds for one in outcomes]) <= 0.965


def test_pairing_takes_the_drift_of_blocks_out(simulation: Any, rng: np.random.Generator) -> None:
    # r has a standard deviation of √1.5 · 2.0 %: 1.7 % half-width at ten blocks. Unpaired it would be 3 %.
    outcomes = simulation.fixed(simulation.QUIET, rng, 500, 10)
    assert np.median([one.half_width for one in outcomes]) == pytest.approx(0.0169, abs=0.0015)


def test_the_stop_rule_takes_little_coverage_away(simulation: Any, rng: np.random.Generator) -> None:
    outcomes = simulation.through_the_rule(simulation.QUIET, rng, 600)
    assert 0.915 <= covered(outcomes) <= 0.97
    assert 18 <= np.mean([one.blocks for one in outcomes]) <= 27
    assert all(one.half_width <= 0.01 for one in outcomes if one.settled)


def test_where_a_start_in_ten_is_slow_the_rule_covers_what_it_claims(simulation: Any, rng: np.random.Generator) -> None:
    """Starts that are quiet otherwise settle before a slow one was met: 60 to 65 % without further starts."""
    quiet = scenario(simulation, "10 % of the agent's starts × 1.7, else 1 %")
    before = simulation.through_the_rule(quiet, rng, 300, simulation.WITHOUT_STARTS)
    after = simulation.through_the_rule(quiet, rng, 400)
    assert covered(before) < 0.72
    assert 0.91 <= covered(after) <= 0.985
    assert covered([one for one in after if one.labelled]) > 0.93
    assert labelled(after) > 0.94


def test_no_interval_covers_more_than_the_chance_to_meet_a_slow_start(
    simulation: Any, rng: np.random.Generator
) -> None:
    rare = scenario(simulation, "5 %")
    outcomes = simulation.through_the_rule(rare, rng, 300)
    figures = simulation.figures(rare, "rule", outcomes, simulation.ENOUGH_STARTS)
    assert figures["bound"] == pytest.approx(0.89, abs=0.03)
    assert figures["r covered"] < figures["bound"] + 0.02


def test_starts_slower_by_little_are_labelled_by_their_ratio(simulation: Any, rng: np.random.Generator) -> None:
    little = scenario(simulation, "30 %")
    assert labelled(simulation.fixed(little, rng, 300, 10)) > 0.88
    assert 0.91 <= covered(simulation.through_the_rule(little, rng, 300)) <= 0.985


def test_even_processes_seldom_get_the_label(simulation: Any, rng: np.random.Generator) -> None:
    assert labelled(simulation.fixed(simulation.QUIET, rng, 3000, 10)) <= 0.018
