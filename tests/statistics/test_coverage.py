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


def test_intervals_of_ten_blocks_hold_the_truth_in_93_to_97_percent(simulation: Any, rng: np.random.Generator) -> None:
    outcomes = simulation.fixed(simulation.EVEN, rng, 4000, 10)
    assert 0.935 <= covered(outcomes) <= 0.965
    assert 0.935 <= np.mean([one.difference_holds for one in outcomes]) <= 0.965


def test_pairing_takes_the_drift_of_blocks_out(simulation: Any, rng: np.random.Generator) -> None:
    # r has a standard deviation of √1.5 · 2.0 %: 1.7 % half-width at ten blocks. Unpaired it would be 3 %.
    outcomes = simulation.fixed(simulation.EVEN, rng, 500, 10)
    assert np.median([one.ratio_half_width for one in outcomes]) == pytest.approx(0.0169, abs=0.0015)


def test_the_stop_rule_takes_little_coverage_away(simulation: Any, rng: np.random.Generator) -> None:
    (outcomes,) = simulation.through_the_rule([simulation.EVEN], rng, 1200)
    assert 0.915 <= covered(outcomes) <= 0.965
    assert 18 <= np.mean([one.blocks for one in outcomes]) <= 27
    assert all(one.ratio_half_width <= 0.01 for one in outcomes if one.status == "settled")


def test_a_large_overhead_settles_by_its_ratio(simulation: Any, rng: np.random.Generator) -> None:
    (outcomes,) = simulation.through_the_rule([simulation.SCENARIOS[2]], rng, 400)
    assert np.mean([one.status == "settled" for one in outcomes]) > 0.6
    assert np.median([one.difference_half_width for one in outcomes]) > 10


def test_a_noisy_configuration_does_not_keep_the_others_to_the_last_block(
    simulation: Any, rng: np.random.Generator
) -> None:
    noisy, quiet = simulation.through_the_rule([simulation.NOISY, simulation.SCENARIOS[1]], rng, 200)
    assert np.mean([one.blocks for one in quiet]) < 12
    assert {one.blocks for one in noisy} == {30}


def test_processes_in_two_regimes_lower_the_coverage_and_the_label_tells_which(
    simulation: Any, rng: np.random.Generator
) -> None:
    outcomes = simulation.fixed(simulation.TWO_REGIMES[0], rng, 1500, 10)
    assert 0.58 <= covered(outcomes) <= 0.71
    assert covered([one for one in outcomes if one.labelled]) > 0.97
    assert covered([one for one in outcomes if not one.labelled]) < 0.03
    assert 0.58 <= labelled(outcomes) <= 0.71


def test_even_processes_seldom_get_the_label(simulation: Any, rng: np.random.Generator) -> None:
    assert labelled(simulation.fixed(simulation.EVEN, rng, 3000, 10)) <= 0.018
