"""What is paid once per process or build, beside the baselines of the same block."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.analysis.test_cost import sampled
from tests.analysis.test_findings import findings, measure, row
from tracetax.results.folder import measures
from tracetax.results.records import Building, Moments, TrialRecord
from tracetax.statistics.overhead import paired_difference

MS = 10**6


def building(trial: TrialRecord, more: int) -> TrialRecord:
    """The trial with a build: the second baseline's takes 2 ms longer, others' ``more`` and a ms per block."""
    added = {"baseline-1": 0, "baseline-2": 2}.get(trial.cell.role, more + trial.block)
    wall = (100 + added) * MS
    moments = Moments(spawned=1, first_monitored=1 + 2 * wall, first_call=2, last_call=500_002, drained=500_002)
    return replace(trial, building=Building(wall, 3 * wall, (("javac",),)), moments=moments)


def built(count: int = 3, more: int = 40, **changes: Any) -> list[TrialRecord]:
    return [building(trial, more) for trial in sampled(count, **changes)]


@pytest.mark.parametrize(
    ("name", "factor"), [("build_time_added", 1), ("build_cpu_added", 3), ("startup_first_call_added", 2)]
)
def test_what_is_added_is_the_paired_difference_to_the_baselines_of_the_block(
    tmp_path: Path, name: str, factor: int
) -> None:
    added = measure(row(findings(tmp_path, built())), name, "")
    times = [[factor * MS * value for value in values] for values in ((141, 142, 143), (100,) * 3, (102,) * 3)]
    expected = paired_difference(*times)
    assert (added.estimate, added.ci95) == (pytest.approx(expected.mean), pytest.approx(expected.ci95))
    assert (added.n_blocks, added.paired_with, added.labels) == (3, "baseline", ("indicative",))


def test_the_times_themselves_are_told_of_the_baseline_too(tmp_path: Path) -> None:
    found = findings(tmp_path, built())
    assert measure(row(found), "build_time", "").estimate == pytest.approx(142 * MS)
    baseline = row(found, "baseline")
    assert measure(baseline, "build_time", "").estimate == pytest.approx(101 * MS)
    assert measure(baseline, "build_cpu", "").estimate == pytest.approx(303 * MS)
    assert not [one.name for one in baseline.measures if one.name.endswith("_added")]


def test_a_difference_as_small_as_that_of_two_baselines_is_marked(tmp_path: Path) -> None:
    added = measure(row(findings(tmp_path, built(10, more=-5))), "build_time_added", "")
    assert added.labels == ("within-aa-band",)


def test_where_no_trial_builds_there_is_nothing_of_it(tmp_path: Path) -> None:
    assert not [one.name for one in row(findings(tmp_path, sampled())).measures if "build" in one.name]


def test_a_block_in_which_a_baseline_was_not_built_is_left_out(tmp_path: Path) -> None:
    trials = [
        replace(one, building=None) if (one.block, one.cell.role) == (2, "baseline-1") else one for one in built()
    ]
    assert measure(row(findings(tmp_path, trials)), "build_time_added", "").n_blocks == 2


def test_the_builds_of_every_trial_stand_in_the_measures_file() -> None:
    rows = {(one["trial"], one["measure"]): one["value"] for one in measures(built(1)).to_dicts()}
    assert (rows[10, "build_time"], rows[12, "build_cpu"]) == (100 * MS, 423 * MS)
