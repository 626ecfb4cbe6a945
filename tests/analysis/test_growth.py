"""Lines over what is counted, from trials of parts that differ in one parameter."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.results.trials import HEAP, PARAMETERS, blocks, ledger
from tests.run.stand_ins import configuration, experiment, new_run
from tests.settings import java_settings
from tracetax.analysis.findings import build
from tracetax.analysis.growth import families
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import PublishedLine, Use
from tracetax.results.findings import Findings, GrowthFinding, PartFinding, PublishedLineValue
from tracetax.results.records import TrialRecord

FLAT = configuration("flat")
DEPTHS = (2, 8, 32)


def measured(tmp_path: Path, trials: list[TrialRecord], *printed: PublishedLine) -> Findings:
    what = experiment(FLAT)
    (part,) = what.parts
    parts = (replace(part, name=f"d{depth}", parameters=TreeParameters(calls=1000, depth=depth)) for depth in DEPTHS)
    folder = new_run(tmp_path / "r", replace(what, parts=tuple(parts), published_lines=printed), FLAT)
    for number, trial in enumerate(sorted(trials, key=lambda trial: trial.block), 1):
        folder.scratch(number)
        folder.keep_trial(replace(trial, number=number))
    return build(folder)


def trials(
    count: int = 10, per_invocation: float = 30.0, fixed: float = 400.0, spread: float = 5.0
) -> list[TrialRecord]:
    """Baselines of 100 and 102 ns at every depth; blocks take turns at ``spread`` more and less."""
    found: list[TrialRecord] = []
    for depth in DEPTHS:
        mean = 101 + fixed + per_invocation * depth
        found += [
            replace(
                trial,
                cell=replace(trial.cell, part=f"d{depth}"),
                block_size=9,
                parameters=replace(PARAMETERS, depth=depth),
                ledger=ledger(1000 * depth if trial.cell.role == "configuration" else 0),
            )
            for trial in blocks(count, mean=mean, spread=spread)
        ]
    return found


def lines(found: Findings, measure: str = "overhead", agent: str = "fake") -> list[GrowthFinding]:
    return [one for one in found.growth if (one.slope.name, one.agent) == (measure, agent)]


def test_what_each_further_invocation_adds_is_told_apart_from_what_every_call_pays(tmp_path: Path) -> None:
    (line,) = lines(measured(tmp_path, trials()))
    assert (line.factor, line.values, line.parts) == ("depth", (2, 8, 32), ("d2", "d8", "d32"))
    assert (line.slope.estimate, line.slope.per) == (pytest.approx(30), "invocation")
    assert (line.intercept.estimate, line.intercept.per) == (pytest.approx(400), "call")
    assert line.r_squared == pytest.approx(1)
    assert (line.slope.n_blocks, line.slope.paired_with, line.slope.labels) == (10, "baseline", ())
    # blocks lie 5 ns higher and lower at all depths alike: that is in the intercept's interval only
    assert line.slope.ci95 == pytest.approx((30, 30))
    assert line.intercept.ci95
    assert line.intercept.ci95[1] - line.intercept.ci95[0] == pytest.approx(2 * 2.262157 * 5 / 3)


def test_the_time_of_a_call_has_a_line_with_the_agent_and_without(tmp_path: Path) -> None:
    found = measured(tmp_path, trials())
    (with_agent,) = lines(found, "service_time")
    assert (with_agent.slope.estimate, with_agent.intercept.estimate) == (pytest.approx(30), pytest.approx(501))
    (baseline,) = lines(found, "service_time", "none")
    assert (baseline.slope.estimate, baseline.intercept.estimate) == (pytest.approx(0), pytest.approx(101))


def test_only_blocks_with_every_depth_count(tmp_path: Path) -> None:
    incomplete = [
        replace(trial, status="failed")
        if (trial.block, trial.cell.part, trial.cell.role) == (3, "d8", "configuration")
        else trial
        for trial in trials()
    ]
    again = [replace(trial, attempt=2) for trial in incomplete if trial.status == "failed"]
    (line,) = lines(measured(tmp_path, [*incomplete, *again]))
    assert line.slope.n_blocks == 9
    assert "indicative" in line.slope.labels


def test_lost_and_cut_records_are_named_at_the_line(tmp_path: Path) -> None:
    def hurt(trial: TrialRecord) -> TrialRecord:
        if (trial.cell.part, trial.cell.role) != ("d32", "configuration"):
            return trial
        return replace(trial, ledger=ledger(32_000, 31_000, truncated=5))

    (line,) = lines(measured(tmp_path, [hurt(trial) for trial in trials()]))
    assert {"lost-records", "truncated"} <= set(line.slope.labels)
    assert line.cut == (32,)


def test_a_printed_line_stands_beside_the_time_of_a_call(tmp_path: Path) -> None:
    printed = PublishedLine(Use("fake", "flat"), "a machine", 133.92, 197.35, 0.9985, "Table 3, Fake: default")
    found = measured(tmp_path, trials(), printed)
    (line,) = lines(found, "service_time")
    assert line.published == (PublishedLineValue("a machine", 133.92, 197.35, 0.9985, "Table 3, Fake: default"),)
    assert not any(one.published for one in found.growth if one is not line)


def part(name: str, depth: int, jdk: int = 17) -> PartFinding:
    return PartFinding(
        name=name,
        title=name,
        parameters=TreeParameters(calls=1000, depth=depth),
        blocks=1,
        stopped="max-blocks",
        indicative=True,
        settings=java_settings(HEAP, jdk=jdk),
        levels=f"depth {depth}, JDK {jdk}",
    )


def test_parts_on_another_java_are_a_family_of_their_own() -> None:
    parts = [part(f"{depth}-{jdk}", depth, jdk) for depth in (2, 4) for jdk in (17, 21)]
    found = {family.levels: [one.name for _, one in family.points] for family in families(parts)}
    assert found == {"JDK 17": ["2-17", "4-17"], "JDK 21": ["2-21", "4-21"]}
