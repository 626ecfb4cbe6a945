"""Two builds side by side: the comparison is paired by block, and its sentence says no more than the interval."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.results.trials import record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.analysis.findings import build
from tracetax.model import PublishedRow, Use
from tracetax.results.findings import BuildComparison, Findings, find_measure
from tracetax.results.records import CpuAccount, CpuTimes, TrialRecord

FLAT = configuration("flat")
OLD, NEW = "old.jar", "new.jar"


def trials(ratio: float, wobble: float, blocks: int = 12, base: float = 100.0) -> list[TrialRecord]:
    """Blocks that drift, in which the new build takes ``ratio`` times as long, ``wobble`` more or less."""
    found: list[TrialRecord] = []
    for block in range(1, blocks + 1):
        drift = 1 + 0.1 * (block % 3)
        new = 1000 * drift * ratio * (1 + (wobble if block % 2 else -wobble))
        at = 4 * block
        found += [
            record(at, block, "baseline-1", base, block_size=4),
            record(at + 1, block, "baseline-2", base, block_size=4),
            record(at + 2, block, mean=1000 * drift, build=OLD, block_size=4),
            record(at + 3, block, mean=new, build=NEW, block_size=4),
        ]
    return found


def findings(path: Path, measured: list[TrialRecord], builds: tuple[str, ...] = (OLD, NEW)) -> Findings:
    what = experiment(FLAT)
    part = replace(what.parts[0], uses=tuple(Use("fake", "flat", label) for label in builds))
    published = (PublishedRow(Use("fake", "flat"), "a machine", 1_552.64, 28.55, "Table 2, Fake: flat"),)
    folder = new_run(path / "r", replace(what, parts=(part,), published=published), FLAT)
    manifest = folder.manifest
    fake = replace(manifest.agents["fake"], builds={label: {} for label in builds})
    folder.write_manifest(replace(manifest, agents=manifest.agents | {"fake": fake}))
    for trial in measured:
        folder.scratch(trial.number)
        folder.keep_trial(trial)
    return build(folder)


def compared(path: Path, ratio: float, wobble: float, blocks: int = 12) -> BuildComparison:
    (comparison,) = findings(path, trials(ratio, wobble, blocks)).comparisons
    return comparison


def test_the_ratio_is_that_of_the_second_to_the_first_paired_by_block(tmp_path: Path) -> None:
    comparison = compared(tmp_path, 1.02, 0.01)
    assert comparison.builds == (OLD, NEW)
    assert comparison.ratio.estimate == pytest.approx(1.02, rel=1e-3)
    # the calls of blocks 1 to 6, and of 7 to 12, take 33.22, 11.76, 30.2, 10.78, 36.24 and 9.8 ns longer: 22 in the
    # mean with a standard error of 3.427810; t with 11 degrees of freedom is 2.200985, and a call has 3 invocations
    assert comparison.difference.estimate == pytest.approx(7.333333)
    assert comparison.difference.ci95 == pytest.approx((4.818481, 9.848186))


def test_a_slower_build_is_told_by_how_much(tmp_path: Path) -> None:
    comparison = compared(tmp_path, 1.021, 0.01)
    assert comparison.verdict == "slower"
    assert comparison.text == "fake flat: new.jar is 2.09 % slower than old.jar (1.42 % to 2.77 %, 12 blocks)."


def test_where_percentages_would_be_large_a_factor_is_told(tmp_path: Path) -> None:
    slower = compared(tmp_path / "slower", 3.0, 0.01).text
    assert "new.jar takes 3.0 times as long as old.jar (3.0 to 3.0 times, 12 blocks)" in slower
    assert "(0.40 to 1.3 times, 12 blocks)" in compared(tmp_path / "wide", 1.0, 0.7).text


def test_a_faster_build_is_told_by_how_much_less_time_it_takes(tmp_path: Path) -> None:
    comparison = compared(tmp_path, 0.9, 0.01)
    assert comparison.verdict == "faster"
    assert "new.jar is 10.00 % faster than old.jar (9.41 % to 10.60 %" in comparison.text


def test_the_same_is_told_with_its_margin(tmp_path: Path) -> None:
    comparison = compared(tmp_path, 1.001, 0.01)
    assert comparison.verdict == "same"
    assert "new.jar and old.jar are the same within 2.0 % (" in comparison.text


def test_an_undecided_comparison_says_how_many_blocks_it_would_take(tmp_path: Path) -> None:
    comparison = compared(tmp_path, 1.01, 0.1)
    assert comparison.verdict == "undecided"
    assert "an estimated 420 blocks would tell 2.0 % apart" in comparison.text
    assert "not-settled" in comparison.ratio.labels


def test_what_no_night_could_decide_is_called_so(tmp_path: Path) -> None:
    text = compared(tmp_path, 1.01, 0.5).text
    assert "2.0 % is not decidable on this machine as it is" in text
    assert "estimated" not in text


def test_cpu_stands_beside_time(tmp_path: Path) -> None:
    def sampled(trial: TrialRecord, ns: int) -> TrialRecord:
        used = CpuTimes(caller=ns, agent=0, jit=0, gc=0, jvm=0, ended=0)
        account = CpuAccount(to_last_call=used, to_drained=used, waiting_cores=None, threads={})
        return replace(trial, cpu=account, in_calls_ns=ns)

    drifting = [
        sampled(
            trial, 100_000 * (10 + trial.block % 3) * (110 + trial.block % 2 if trial.cell.use.build == NEW else 100)
        )
        for trial in trials(1.0, 0.001)
    ]
    (comparison,) = findings(tmp_path / "cpu", drifting).comparisons
    assert comparison.verdict == "same"
    assert comparison.cpu is not None
    assert comparison.cpu.estimate == pytest.approx(1.105, rel=1e-3)
    # ln 1.10 and ln 1.11 in turn: half-width 2.200985 · 0.0047261 / √12
    assert comparison.text.endswith("; CPU of all threads: +10.50 % (+10.17 % to +10.83 %).")
    assert compared(tmp_path / "none", 1.0, 0.001).cpu is None, "it was not sampled"


def test_few_blocks_are_indicative_and_one_has_no_interval(tmp_path: Path) -> None:
    few = compared(tmp_path / "3", 1.5, 0.1, 3)
    assert "3 blocks: indicative" in few.text
    assert "not-settled" not in few.ratio.labels
    alone = compared(tmp_path / "1", 1.5, 0.01, 1)
    assert (alone.verdict, alone.ratio.ci95) == ("undecided", None)
    assert "one block has no interval" in alone.text


def test_a_difference_no_larger_than_that_between_baselines_is_told_with_the_band(tmp_path: Path) -> None:
    noisy = [
        replace(trial, service=replace(trial.service, mean=trial.service.mean * (1.1 if trial.block % 2 else 1.0)))
        if trial.cell.role == "baseline-2" and trial.service
        else trial
        for trial in trials(1.01, 0.002)
    ]
    (comparison,) = findings(tmp_path, noisy).comparisons
    assert comparison.verdict == "slower"
    assert "that is inside the A/A band of ± " in comparison.text


def test_each_build_is_a_row_of_its_own_with_its_rank(tmp_path: Path) -> None:
    found = findings(tmp_path, trials(1.5, 0.01))
    rows = [row for row in found.configurations if row.agent == "fake"]
    assert [(row.build, row.rank) for row in rows] == [(OLD, 1), (NEW, 2)]
    measured = [find_measure(row, "service_time") for row in rows]
    assert [round(one.estimate) for one in measured if one] == [1100, 1650]


def test_without_a_common_block_nothing_is_compared(tmp_path: Path) -> None:
    only_old = [trial for trial in trials(1.0, 0.01) if trial.cell.use.build != NEW]
    assert findings(tmp_path, only_old).comparisons == ()


def test_what_was_printed_stands_beside_both_builds(tmp_path: Path) -> None:
    rows = [row for row in findings(tmp_path, trials(1.0, 0.01, 2)).configurations if row.agent == "fake"]
    printed = [value for row in rows for value in row.published]
    assert [(value.platform, value.estimate, value.sd) for value in printed] == [("a machine", 1_552.64, 28.55)] * 2
