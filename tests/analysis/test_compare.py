"""Two runs beside each other: what differs comes first, rows are paired by name, machines decide on verdicts."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.results.trials import record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.analysis.compare import Change, RunComparison, compare_runs, slower
from tracetax.analysis.findings import build
from tracetax.results.findings import Findings

FLAT, OTHER = configuration("flat"), configuration("other")


def run(
    path: Path, mean: float, *, base: float = 100.0, blocks: int = 10, wobble: float = 0.01, name: str = "flat"
) -> Findings:
    """A run of one configuration whose calls take ``mean`` ns, a little more in every other block."""
    config = FLAT if name == "flat" else OTHER
    folder = new_run(path, experiment(config), config)
    for block in range(1, blocks + 1):
        factor = 1 + (wobble if block % 2 else -wobble)
        for number, (role, time) in enumerate(
            (("baseline-1", base * factor), ("baseline-2", base / factor), ("configuration", mean * factor))
        ):
            trial = record(3 * block + number, block, role, time, configuration=name)  # pyright: ignore[reportArgumentType]
            folder.scratch(trial.number)
            folder.keep_trial(trial)
    return build(folder)


def overhead(comparison: RunComparison) -> Change:
    (row,) = comparison.rows
    return next(change for change in row.changes if change.name == "overhead")


def test_what_grew_by_its_whole_interval_is_more_and_the_gate_sees_it(tmp_path: Path) -> None:
    found = compare_runs(run(tmp_path / "a", 1000), run(tmp_path / "b", 1100))
    change = overhead(found)
    assert change.verdict == "more"
    assert change.difference == pytest.approx(100 / 3, rel=1e-3)
    assert change.ratio is not None
    assert change.ratio.estimate == pytest.approx(1000 / 900, rel=1e-3)
    assert len(slower(found, 0.0)) == 1
    assert len(slower(found, 0.05)) == 1
    assert slower(found, 0.12) == []


def test_what_shrank_or_cannot_be_told_apart_is_not_slower(tmp_path: Path) -> None:
    less = compare_runs(run(tmp_path / "a", 1100), run(tmp_path / "b", 1000))
    alike = compare_runs(run(tmp_path / "c", 1000, wobble=0.2), run(tmp_path / "d", 1010, wobble=0.2))
    assert (overhead(less).verdict, overhead(alike).verdict) == ("less", "not told apart")
    assert slower(less, 0.0) == slower(alike, 0.0) == []


def test_on_different_machines_numbers_stand_beside_each_other_without_a_verdict(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", 1000), run(tmp_path / "b", 2000)
    found = compare_runs(first, replace(second, machine=second.machine | {"cores": 64}))
    assert not found.same_machine
    assert [(one.kind, one.what, one.first, one.second) for one in found.differences] == [
        ("machine", "cores", "2", "64")
    ]
    change = overhead(found)
    assert (change.verdict, change.ci95, change.ratio) == (None, None, None)
    assert slower(found, 0.0) == []


def test_versions_and_settings_that_differ_are_named(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", 1000), run(tmp_path / "b", 1000, blocks=3)
    found = compare_runs(first, replace(second, tool_version="9.9"))
    assert {(one.what, one.second) for one in found.differences} == {("tracetax", "9.9"), ("blocks of p", "3")}


def test_rows_of_one_run_only_are_named(tmp_path: Path) -> None:
    found = compare_runs(run(tmp_path / "a", 1000), run(tmp_path / "b", 1000, name="other"))
    assert (found.only_first, found.only_second) == (("p/fake/flat",), ("p/fake/other",))
    assert found.rows == ()


def test_parts_of_other_names_are_paired_where_their_calls_are_made_alike(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", 1000), run(tmp_path / "b", 1000)
    parts = tuple(replace(part, name="q") for part in second.experiment.parts)
    rows = tuple(replace(row, part="q") for row in second.configurations)
    renamed = replace(second, experiment=replace(second.experiment, parts=parts), configurations=rows)
    assert overhead(compare_runs(first, renamed)).verdict == "not told apart"


def test_a_single_block_has_no_verdict(tmp_path: Path) -> None:
    found = compare_runs(run(tmp_path / "a", 1000), run(tmp_path / "b", 1500, blocks=1))
    assert (overhead(found).verdict, overhead(found).ci95) == (None, None)
