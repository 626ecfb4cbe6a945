"""Findings follow from the trials: intervals, bands, ranks, losses, and sentences that claim no more."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.results.trials import blocks, ledger, record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.analysis.findings import build
from tracetax.analysis.statements import two_digits
from tracetax.model import Configuration, Delivery
from tracetax.results.findings import ConfigurationFinding, Findings, Measure
from tracetax.results.records import HeapUse, SteadyPart, TrialRecord, Verdict

FLAT = configuration("flat")


def findings(tmp_path: Path, trials: list[TrialRecord], *configs: Configuration) -> Findings:
    configs = configs or (FLAT,)
    folder = new_run(tmp_path / "r", experiment(*configs), *configs)
    for trial in trials:
        folder.scratch(trial.number)
        folder.keep_trial(trial)
    return build(folder)


def row(found: Findings, name: str = "flat") -> ConfigurationFinding:
    return next(one for one in found.configurations if one.configuration == name)


def measure(of: ConfigurationFinding, name: str, per: str = "call") -> Measure:
    return next(one for one in of.measures if (one.name, one.per) == (name, per))


def test_the_overhead_is_the_paired_difference_with_students_interval(tmp_path: Path) -> None:
    found = row(findings(tmp_path, blocks(10, spread=5)))
    overhead = measure(found, "overhead")
    # 904 and 894 ns in five blocks each: the standard error is 5/3, and t with 9 degrees of freedom 2.262157
    assert overhead.estimate == pytest.approx(899)
    assert overhead.ci95 == pytest.approx((895.229738, 902.770262))
    assert measure(found, "overhead", "invocation").estimate == pytest.approx(299.666667)
    assert overhead.n_blocks == 10
    assert "indicative" not in overhead.labels


def test_fewer_than_ten_blocks_are_marked_indicative(tmp_path: Path) -> None:
    found = findings(tmp_path, blocks(9, spread=5))
    assert "indicative" in measure(row(found), "overhead").labels
    assert found.experiment.parts[0].indicative


@pytest.mark.parametrize(("count", "settles"), [(9, True), (10, False)])
def test_only_a_row_that_could_have_settled_is_said_not_to_have(tmp_path: Path, count: int, settles: bool) -> None:
    labels = measure(row(findings(tmp_path, blocks(count, spread=300))), "overhead").labels
    assert ("not-settled" not in labels) == settles


def test_a_single_block_gives_no_interval(tmp_path: Path) -> None:
    overhead = measure(row(findings(tmp_path, blocks(1))), "overhead")
    assert overhead.ci95 is None
    assert overhead.estimate == pytest.approx(899)


def test_an_overhead_as_small_as_baselines_differ_is_within_the_band(tmp_path: Path) -> None:
    found = findings(tmp_path, blocks(10, mean=101.5, spread=0.1))
    assert "within-aa-band" in measure(row(found), "overhead").labels
    assert found.aa[0].overhead_ns_per_call == pytest.approx(2.228 * (0.75 * 4) ** 0.5 / 10**0.5, rel=1e-3)


def test_the_baseline_is_a_row_and_has_no_overhead(tmp_path: Path) -> None:
    base = row(findings(tmp_path, blocks(10)), "baseline")
    assert (base.agent, base.rank) == ("none", None)
    assert measure(base, "service_time").n_blocks == base.records.blocks == 10
    assert all(one.name != "overhead" for one in base.measures)


def test_what_delivers_everything_is_ranked_and_what_cannot_be_told_apart_shares_a_rank(tmp_path: Path) -> None:
    names = ("flat", "same", "slow")
    trials: list[TrialRecord] = []
    for block in range(1, 11):
        wobble = 3.0 if block % 2 else -3.0
        means = {"flat": 1000 + wobble, "same": 1000.5 - wobble, "slow": 2000 + wobble}
        at = 10 * block
        trials += [record(at, block, "baseline-1", 100, block_size=5), record(at + 1, block, "baseline-2", 102)]
        trials += [
            record(at + 2 + place, block, mean=mean, configuration=name)
            for place, (name, mean) in enumerate(means.items())
        ]
    found = findings(tmp_path, trials, *(configuration(name) for name in names))
    assert [row(found, name).rank for name in names] == [1, 1, 3]
    assert [row(found, name).ranks for name in names] == [{"overhead": 1}, {"overhead": 1}, {"overhead": 3}]


def test_a_row_that_lost_records_is_not_ranked_and_its_loss_is_counted_by_block(tmp_path: Path) -> None:
    lossy = configuration("flat", Delivery.LOSSY)
    lost = [
        replace(trial, ledger=ledger(10_000, 2_000, dropped=8_000)) if trial.cell.role == "configuration" else trial
        for trial in blocks(4)
    ]
    found = findings(tmp_path, lost, lossy)
    records = row(found).records
    assert (records.expected, records.received, records.dropped_reported) == (40_000, 8_000, 32_000)
    assert (records.blocks_incomplete, records.blocks, records.completeness) == (4, 4, 0.2)
    assert row(found).rank is None
    sentence = next(one.text for one in found.statements if one.id.endswith("drops"))
    assert "is offered 10,000 records/s" in sentence
    assert "it tells of every missing record itself" in sentence


@pytest.mark.parametrize(
    ("value", "like", "shown"),
    [
        (1066.3, 238.4, "1,070"),
        (238.4, None, "240"),
        (0.645, 0.083, "0.645"),
        (1623441, None, "1,600,000"),
        (0, None, "0"),
    ],
)
def test_sentences_give_no_more_digits_than_the_interval_supports(value: float, like: float | None, shown: str) -> None:
    assert two_digits(value, like) == shown


def test_a_run_that_was_killed_is_said_to_be_interrupted_as_its_parts_are(tmp_path: Path) -> None:
    found = findings(tmp_path, blocks(2))
    assert [part.stopped for part in found.experiment.parts] == ["interrupted"]
    assert "interrupted" in {verdict.code for verdict in found.verdicts}


def test_silent_loss_is_said(tmp_path: Path) -> None:
    lost = [
        replace(trial, ledger=ledger(10_000, 9_000)) if trial.cell.role == "configuration" else trial
        for trial in blocks(2)
    ]
    found = findings(tmp_path, lost)
    assert any("it loses records; 2,000 are unaccounted for" in one.text for one in found.statements)


@pytest.mark.parametrize(
    ("lost_datagrams", "told"),
    [
        (150, "this machine's kernel lost 300 of its datagrams, and 2,000 records with them"),
        (40, "it loses records; 1,200 are unaccounted for"),
    ],
)
def test_what_the_kernel_lost_is_not_said_to_be_the_agents_loss(tmp_path: Path, lost_datagrams: int, told: str) -> None:
    counted = ledger(10_000, 9_000, lost_datagrams=lost_datagrams)
    found = findings(
        tmp_path,
        [replace(trial, ledger=counted) if trial.cell.role == "configuration" else trial for trial in blocks(2)],
    )
    assert row(found).records.lost_datagrams == 2 * lost_datagrams
    assert any(told in one.text for one in found.statements), found.statements


def test_a_configuration_that_failed_for_good_is_an_error_row_without_numbers(tmp_path: Path) -> None:
    verdict = Verdict(code="nothing-recorded", severity="error", text="no record arrived")
    trials = [trial for trial in blocks(1) if trial.cell.role != "configuration"]
    trials += [record(n, 1, status="failed", verdicts=(verdict,), service=None) for n in (8, 9)]
    found = row(findings(tmp_path, trials))
    assert [(v.code, v.severity) for v in found.verdicts] == [("nothing-recorded", "error")]
    assert found.measures == ()
    assert found.rank is None


def test_a_failure_that_its_repetition_made_good_is_no_error_of_the_row(tmp_path: Path) -> None:
    verdict = Verdict(code="jvm-ended", severity="error", text="the JVM was ended by signal SIGKILL")
    trials = [*blocks(2), record(9, 2, status="failed", verdicts=(verdict,))]
    found = row(findings(tmp_path, trials))
    assert [(v.code, v.severity) for v in found.verdicts] == [("jvm-ended", "warning")]


def test_a_configuration_that_was_set_aside_later_keeps_its_error(tmp_path: Path) -> None:
    verdict = Verdict(code="jvm-ended", severity="error", text="the JVM ended\n  whole log: x")
    gone = [trial for trial in blocks(2) if not (trial.block == 2 and trial.cell.role == "configuration")]
    gone += [record(n, 2, status="failed", verdicts=(verdict,), service=None) for n in (8, 9)]
    found = row(findings(tmp_path, gone))
    assert [(v.code, v.severity) for v in found.verdicts] == [("jvm-ended", "error")]
    assert "(whole log: x)" in found.verdicts[0].text


def test_a_configuration_without_baselines_beside_it_is_an_error(tmp_path: Path) -> None:
    trials = [trial for trial in blocks(1) if trial.cell.role != "baseline-1"]
    trials += [record(n, 1, "baseline-1", status="failed", service=None) for n in (8, 9)]
    assert [v.code for v in row(findings(tmp_path, trials)).verdicts] == ["no-baseline"]


def test_trials_that_never_became_steady_are_labelled(tmp_path: Path) -> None:
    stalled = SteadyPart(kind="no-steady-state", first_bin=500, bins=500, change_points=())
    trials = [replace(trial, steady=stalled) if trial.number == 2 else trial for trial in blocks(2)]
    found = row(findings(tmp_path, trials))
    assert "no-steady-state" in measure(found, "overhead").labels
    assert "1 of 2 trials" in next(v.text for v in found.verdicts if v.code == "no-steady-state")
    rare = row(findings(tmp_path / "rare", [replace(t, steady=stalled) if t.number == 2 else t for t in blocks(5)]))
    assert "no-steady-state" not in measure(rare, "overhead").labels
    assert "1 of 5 trials" in next(v.text for v in rare.verdicts if v.code == "no-steady-state")


def test_work_put_off_until_after_the_calls_is_labelled_deferred(tmp_path: Path) -> None:
    late = [
        replace(trial, arrived_by_last_call=1_000) if trial.cell.role == "configuration" else trial
        for trial in blocks(2)
    ]
    assert row(findings(tmp_path, late)).deferred
    assert not row(findings(tmp_path / "other", blocks(2))).deferred


def test_a_row_says_its_technology_where_there_are_others_beside_it(tmp_path: Path) -> None:
    woven = replace(FLAT, technology="weaving")
    named = replace(woven, name="flat:source", title="flat, by source", technology="source")
    (alone,) = findings(tmp_path / "alone", blocks(2), woven).configurations[1:]
    assert alone.title == "flat"
    both = findings(tmp_path / "both", [], woven, named).configurations
    assert [one.title for one in both] == ["flat, by weaving", "flat, by source"]


def test_nothing_measured_still_gives_findings(tmp_path: Path) -> None:
    found = findings(tmp_path, [])
    assert found.experiment.parts[0].blocks == 0
    assert {v.code for v in row(found).verdicts} == {"not-measured"}


def test_findings_survive_being_written_and_read(tmp_path: Path) -> None:
    found = findings(tmp_path, blocks(3, spread=2))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Findings) == found


def test_used_heap_and_collections_are_means_over_blocks(tmp_path: Path) -> None:
    heaps = {1: HeapUse(5e8, 0.5, 8, 70_000_000, 12_000_000), 2: HeapUse(5e8, 0.4, 10, 90_000_000, 20_000_000)}
    trials = [
        replace(trial, heap=heaps[trial.block]) if trial.cell.role == "configuration" else trial for trial in blocks(2)
    ]
    found = findings(tmp_path, trials)
    names = ("heap_used_cv", "collections", "collection_pause", "collection_pause_longest")
    assert [measure(row(found), name, "").estimate for name in names] == pytest.approx([0.45, 9, 80e6, 16e6])
    assert not {one.name for one in row(found, "baseline").measures} & set(names)


def with_quantiles(trials: list[TrialRecord], **quantiles: float) -> list[TrialRecord]:
    return [replace(trial, service=replace(trial.service, **quantiles)) for trial in trials if trial.service]


def test_one_trial_that_takes_its_clock_for_coarse_widens_no_interval(tmp_path: Path) -> None:
    trials = [replace(trial, clock_resolution_ns=1.0) for trial in blocks(10, spread=5)]
    trials[4] = replace(trials[4], clock_resolution_ns=47.0)
    found = row(findings(tmp_path, trials))
    low, high = measure(found, "service_time_median").ci95 or (0, 0)
    assert high - low < 8


def test_a_percentile_with_fewer_than_ten_calls_beyond_it_in_one_start_is_not_told(tmp_path: Path) -> None:
    trials = with_quantiles(blocks(5), count=10_000)
    names = {one.name for one in row(findings(tmp_path / "a", trials)).measures}
    assert {"service_time_p99", "service_time_p99_9"} <= names
    fewer = [trials[0], *with_quantiles(trials[1:2], count=9_999), *trials[2:]]
    names = {one.name for one in row(findings(tmp_path / "b", fewer)).measures}
    assert "service_time_p99_9" not in names
    assert {"service_time_p99", "service_time_max"} <= names


@pytest.mark.parametrize("name", ["service_time_p99_9", "service_time_max"])
def test_no_interval_of_a_quantile_or_a_maximum_reaches_zero(tmp_path: Path, name: str) -> None:
    trials = with_quantiles(blocks(5), count=20_000)
    trials[1:2] = with_quantiles(trials[1:2], p999=2e7, max=2e7)
    value = measure(row(findings(tmp_path, trials)), name)
    low, high = value.ci95 or (0, 0)
    assert 0 < low < value.estimate < high
    assert high - value.estimate > 2 * (value.estimate - low)


def test_one_disturbed_trial_was_and_two_were(tmp_path: Path) -> None:
    def texts(path: Path, disturbed: int) -> list[str]:
        trials = blocks(10)
        marked = [
            replace(trial, verdicts=(Verdict("disturbed", "warning", "busy"),)) if place < disturbed else trial
            for place, trial in enumerate(trials)
        ]
        return [verdict.text for verdict in findings(path, marked).verdicts if verdict.code == "disturbed"]

    assert texts(tmp_path / "1", 1) == ["1 of 30 trials was disturbed: cores were stolen or used by others."]
    assert texts(tmp_path / "2", 2) == ["2 of 30 trials were disturbed: cores were stolen or used by others."]
