"""Calls per second: the mean over starts, quartiles over the steady bins of all of them."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.results.trials import PARAMETERS, blocks, record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.analysis.findings import build
from tracetax.analysis.measures import BinMeans, throughput
from tracetax.kinds.functions import FunctionParameters
from tracetax.kinds.requests import Weighted
from tracetax.model import Rate
from tracetax.results.findings import Measure
from tracetax.results.records import Moments, SteadyPart, TrialRecord
from tracetax.results.reduction import reduce_samples

FLAT = configuration("flat")


def found(trials: list[tuple[TrialRecord, ...]], bins: BinMeans) -> dict[str, Measure]:
    return {measure.name: measure for measure in throughput(trials, bins)}


def from_bin(trial: TrialRecord, first: int) -> TrialRecord:
    return replace(trial, steady=SteadyPart(kind="flat", first_bin=first, bins=4, change_points=()))


def test_the_mean_is_calls_by_time_and_the_quartiles_are_over_bins() -> None:
    first, second = from_bin(record(1), 1), from_bin(record(2, 2), 0)
    bins = {1: np.array([[9e9, 100.0, 100.0, 400.0]]), 2: np.array([[250.0, 250.0, 250.0, 250.0]])}
    measures = found([(first,), (second,)], bins)
    # 200 ns and 250 ns a call: 5 and 4 million a second; the mean rate of the first's bins would be 7.5
    assert measures["throughput"].estimate == pytest.approx(4.5e6)
    assert measures["throughput"].ci95 == pytest.approx((4.5e6 - 12.7062 * 0.5e6, 4.5e6 + 12.7062 * 0.5e6), rel=1e-4)
    pooled = [10e6, 10e6, 2.5e6, 4e6, 4e6, 4e6, 4e6]
    quartiles = [measures[f"throughput_{name}"].estimate for name in ("q1", "median", "q3")]
    assert quartiles == pytest.approx(np.quantile(pooled, [0.25, 0.5, 0.75]))
    assert measures["throughput_q1"].ci95 is None
    assert {measure.unit for measure in measures.values()} == {"1/s"}


def test_threads_add_up_and_the_two_baselines_of_a_block_are_one_value() -> None:
    trials = [(from_bin(record(1), 0), from_bin(record(2), 0))]
    bins = {1: np.array([[100.0, 100.0], [200.0, 200.0]]), 2: np.array([[100.0, 100.0], [100.0, 100.0]])}
    measures = found(trials, bins)
    assert measures["throughput"].estimate == pytest.approx(17.5e6)
    assert (measures["throughput"].n_blocks, measures["throughput"].ci95) == (1, None)


def answered(number: int, block: int, seconds: float, *, cold: bool = False) -> TrialRecord:
    parameters = FunctionParameters(
        calls=1 if cold else 500, rate="full", mix=(Weighted("f", 1),), connections=10, host="h", cold=cold
    )
    moments = Moments(spawned=1, first_call=5_000_000_000, last_call=5_000_000_000 + int(seconds * 1e9))
    return replace(from_bin(record(number, block), 0), parameters=parameters, moments=moments)


def test_of_a_load_whose_calls_overlap_it_is_calls_by_the_time_from_first_to_last() -> None:
    bins = {number: np.array([[1e8, 1e8, 1e8, 1e8]]) for number in (1, 2)}  # 0.1 s a call, ten at a time
    measures = found([(answered(1, 1, 5.0),), (answered(2, 2, 4.0),)], bins)
    assert measures["throughput"].estimate == pytest.approx((100 + 125) / 2)
    assert set(measures) == {"throughput"}


def test_a_first_answer_is_no_throughput() -> None:
    assert found([(answered(1, 1, 0.3, cold=True),)], {1: np.array([[3e8]])}) == {}


def test_without_bins_there_is_none() -> None:
    assert found([(record(1),)], {}) == {}


@pytest.mark.parametrize("rate", ["full", 1000.0])
def test_a_run_at_full_speed_has_it_from_the_series_of_its_trials(tmp_path: Path, rate: Rate) -> None:
    what = experiment(FLAT)
    parameters = replace(PARAMETERS, rate=rate)
    (part,) = what.parts
    folder = new_run(tmp_path / "r", replace(what, parts=(replace(part, parameters=parameters),)), FLAT)
    for trial in (replace(one, parameters=parameters) for one in blocks(2)):
        series, _ = reduce_samples(np.full(1000, 125), trial=trial.number, thread=0, kind="service")
        series.write_parquet(folder.scratch(trial.number) / "series.parquet")
        folder.keep_trial(trial)
    rows = [{one.name: one.estimate for one in row.measures} for row in build(folder).configurations]
    expected = 8e6 if rate == "full" else None
    assert [row.get("throughput") for row in rows] == [expected, expected]
