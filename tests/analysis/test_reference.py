"""Beside a reference each row says how many times as much it costs, paired by block."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.results.trials import record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.analysis.findings import build
from tracetax.results.findings import ConfigurationFinding, Findings, find_measure

BLOCKS = 12
LIMIT, FLAT = configuration("limit"), configuration("flat")


def findings(path: Path, reference: str, least: float = 50.0, of: str = "fake") -> Findings:
    """Of blocks that drift: beside baselines of 100 ns a call, ``limit`` adds ``least``, and ``flat`` 200 ns.

    ``limit`` belongs to the agent ``of``, whose file names the reference.
    """
    what = experiment(replace(LIMIT, agent=of), FLAT)
    folder = new_run(path / "r", what, LIMIT, FLAT)
    agent = replace(folder.manifest.agents["fake"], key=of, reference=reference)
    folder.write_manifest(replace(folder.manifest, agents=folder.manifest.agents | {of: agent}))
    for block in range(1, BLOCKS + 1):
        drift = 1 + 0.1 * (block % 3)
        for place, trial in enumerate(
            (
                record(1, block, "baseline-1", 100 * drift),
                record(1, block, "baseline-2", 100 * drift),
                record(1, block, mean=(100 + least) * drift, configuration="limit", agent=of),
                record(1, block, mean=(300 + (3 if block % 2 else -3)) * drift),
            )
        ):
            number = 4 * block + place
            folder.scratch(number)
            folder.keep_trial(replace(trial, number=number, block_size=4))
    return build(folder)


def row(of: Findings, name: str) -> ConfigurationFinding:
    return next(row for row in of.configurations if row.configuration == name)


def test_a_row_says_how_many_times_the_floor_it_adds(tmp_path: Path) -> None:
    times = find_measure(row(findings(tmp_path, "limit"), "flat"), "overhead_to_reference")
    assert times
    assert times.estimate == pytest.approx(4, rel=1e-3)  # whatever the drift, which both have
    assert times.paired_with == "p/fake/limit"
    assert times.n_blocks == BLOCKS


def test_a_sentence_tells_both_side_by_side(tmp_path: Path) -> None:
    (told,) = [statement for statement in findings(tmp_path, "limit").statements if statement.id.endswith("-reference")]
    assert "Fake (limit) adds 18 ns, Fake (flat) 73 ns per invocation: 4.0 times (3.96 to 4.04) as much." in told.text
    assert told.rests_on == ("p/fake/flat", "p/fake/limit")


def test_without_a_floor_nothing_is_told(tmp_path: Path) -> None:
    of = findings(tmp_path, "")
    assert not any(find_measure(row(of, name), "overhead_to_reference") for name in ("limit", "flat"))
    assert not any(statement.id.endswith("-reference") for statement in of.statements)


def test_the_floor_is_no_multiple_of_itself(tmp_path: Path) -> None:
    assert find_measure(row(findings(tmp_path, "limit"), "limit"), "overhead_to_reference") is None


def test_no_multiple_is_told_of_a_floor_that_costs_nothing_measurable(tmp_path: Path) -> None:
    assert find_measure(row(findings(tmp_path, "limit", least=-1), "flat"), "overhead_to_reference") is None


def test_a_reference_has_no_rank_among_the_agents_of_others(tmp_path: Path) -> None:
    of = findings(tmp_path, "limit", of="tracer")
    assert (row(of, "limit").rank, row(of, "flat").rank) == (None, 1)


def test_by_itself_it_has_one(tmp_path: Path) -> None:
    of = findings(tmp_path, "limit")
    assert (row(of, "limit").rank, row(of, "flat").rank) == (1, 2)
