"""The whole cost: CPU of all threads beyond the baselines', per invocation and per record that arrived."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.analysis.test_findings import findings, measure, row
from tests.results.trials import HEAP, PARAMETERS, ledger, record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.analysis.findings import build
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Delivery, Use
from tracetax.results.blocks import charged_per_call
from tracetax.results.folder import measures
from tracetax.results.records import Cell, CpuAccount, CpuTimes, Moments, TrialRecord, Verdict
from tracetax.statistics.overhead import paired_difference

DEPTH = 3
"""Of the stand-ins' part."""


HALF_A_MS = Moments(spawned=1, first_call=2, last_call=500_002, drained=500_002)


def account(caller: int = 0, agent: int = 0, jit: int = 0, gc: int = 0, jvm: int = 0, ended: int = 0) -> CpuAccount:
    times = CpuTimes(caller=caller, agent=agent, jit=jit, gc=gc, jvm=jvm, ended=ended)
    return CpuAccount(to_last_call=times, to_drained=times, waiting_cores=None, threads={})


def sampled(count: int = 3, received: int = 10_000, **changes: Any) -> list[TrialRecord]:
    """Blocks whose baselines use 100 and 120 ns a call, and a configuration that adds to their mean, block by block."""
    found: list[TrialRecord] = []
    for block in range(1, count + 1):
        more = account(caller=300_000, agent=200_000 + 1_000 * block, jit=50_000, gc=20_000, jvm=5_000, ended=4_000)
        plain: dict[str, Any] = {"in_calls_ns": 90_000}
        found += [
            record(10 * block, block, "baseline-1", 100, cpu=account(caller=100_000), **plain),
            record(10 * block + 1, block, "baseline-2", 102, cpu=account(caller=120_000), **plain),
            record(10 * block + 2, block, cpu=more, ledger=ledger(10_000, received), **(plain | changes)),
        ]
    return found


def test_cpu_is_the_paired_difference_of_what_all_threads_used_per_call(tmp_path: Path) -> None:
    found = row(findings(tmp_path, sampled()))
    expected = paired_difference([579.0 + block for block in (1, 2, 3)], [100.0] * 3, [120.0] * 3)
    cpu = measure(found, "cpu", "invocation")
    assert cpu.estimate == pytest.approx(expected.mean / DEPTH)
    assert expected.ci95 and cpu.ci95 == pytest.approx([limit / DEPTH for limit in expected.ci95])
    assert (cpu.n_blocks, cpu.paired_with, cpu.unit) == (3, "baseline", "ns")
    assert "indicative" in cpu.labels


def test_per_record_it_counts_what_arrived(tmp_path: Path) -> None:
    lossy = configuration("flat", Delivery.LOSSY)
    found = row(findings(tmp_path, sampled(received=2_500), lossy))
    assert measure(found, "cpu", "record").estimate == pytest.approx(471 / 2.5)


def test_its_parts_are_shown_apart(tmp_path: Path) -> None:
    found = row(findings(tmp_path, sampled()))
    parts = {name: measure(found, f"cpu_{name}", "invocation").estimate for name in ("caller", "agent", "jit", "gc")}
    expected = {"caller": 190 / 3, "agent": 202 / 3, "jit": 50 / 3, "gc": 20 / 3}
    assert parts == pytest.approx(expected)
    assert sum(parts.values()) < measure(found, "cpu", "invocation").estimate


def test_where_nothing_is_promised_there_is_no_cpu_per_record(tmp_path: Path) -> None:
    silent = configuration("flat", Delivery.NONE)
    found = row(findings(tmp_path, [replace(trial, ledger=ledger(0)) for trial in sampled()], silent))
    assert [one.per for one in found.measures if one.name == "cpu"] == ["invocation"]


def test_what_was_saved_is_shown_as_it_is(tmp_path: Path) -> None:
    less = [
        replace(trial, cpu=account(caller=80_000)) if trial.cell.use.agent == "fake" else trial for trial in sampled()
    ]
    cpu = measure(row(findings(tmp_path, less)), "cpu", "invocation")
    assert cpu.estimate == pytest.approx(-10)
    assert "within-aa-band" in cpu.labels


@pytest.mark.parametrize(
    ("parameters", "share"),
    [
        (TreeParameters(calls=1000, depth=3), 500),
        (TreeParameters(calls=1000, depth=3, rate=100.0), 90),
        (TreeParameters(calls=1000, depth=3, rate=100.0, wait="park"), 500),
    ],
)
def test_a_caller_that_spins_is_charged_the_time_inside_its_calls_only(
    parameters: TreeParameters, share: float
) -> None:
    trial = record(cpu=account(caller=500_000), in_calls_ns=90_000, parameters=parameters, moments=HALF_A_MS)
    assert charged_per_call(trial) == charged_per_call(trial, "caller") == share


def test_a_spinning_caller_that_had_a_core_half_of_the_time_is_charged_half_the_time_inside_its_calls() -> None:
    paced = replace(PARAMETERS, rate=100.0)
    trial = record(cpu=account(caller=250_000), in_calls_ns=90_000, parameters=paced, moments=HALF_A_MS)
    assert charged_per_call(trial) == 45


def test_the_drain_is_charged_but_for_the_jvms_own_threads() -> None:
    calls, drained = CpuTimes(100, 10, 0, 0, 1, 0), CpuTimes(100, 70, 0, 0, 500, 0)
    cpu = CpuAccount(to_last_call=calls, to_drained=drained, waiting_cores=None, threads={})
    assert charged_per_call(record(cpu=cpu, in_calls_ns=0)) == pytest.approx(171 / 1000)


def test_a_block_in_which_one_of_the_three_was_not_sampled_is_left_out(tmp_path: Path) -> None:
    trials = [replace(trial, cpu=None) if trial.number == 21 else trial for trial in sampled()]
    found = row(findings(tmp_path, trials))
    assert (measure(found, "cpu", "invocation").n_blocks, measure(found, "overhead").n_blocks) == (2, 3)


def two_configurations(**changes: Any) -> list[TrialRecord]:
    """``flat`` adds more to a call, ``cheap`` uses more CPU in the background."""
    found: list[TrialRecord] = []
    cheap = Cell("p", Use("fake", "cheap"), HEAP)
    for trial in sampled(4):
        found.append(replace(trial, block_size=4))
        if trial.cell.use.agent == "fake":
            wobble = trial.block % 2
            busy = account(caller=250_000, agent=900_000 + wobble)
            other = replace(trial, number=trial.number + 1, cell=cheap, block_size=4, cpu=busy)
            assert trial.service is not None
            less = replace(trial.service, mean=500.0 + wobble)
            found.append(replace(other, service=less, **changes))
    return found


@pytest.mark.parametrize(("rank_by", "ranks"), [("cpu", [1, 2]), ("overhead", [2, 1])])
def test_rows_are_ranked_as_the_experiment_says(tmp_path: Path, rank_by: Any, ranks: list[int]) -> None:
    configs = configuration("flat"), configuration("cheap")
    what = replace(experiment(*configs), rank_by=rank_by)
    folder = new_run(tmp_path / "r", what, *configs)
    for trial in two_configurations():
        folder.scratch(trial.number)
        folder.keep_trial(trial)
    found = build(folder)
    assert [row(found, name).rank for name in ("flat", "cheap")] == ranks
    by_either = [row(found, name).ranks for name in ("flat", "cheap")]
    assert by_either == [{"cpu": 1, "overhead": 2}, {"cpu": 2, "overhead": 1}]


def test_where_cpu_is_not_known_of_all_they_are_ranked_by_overhead(tmp_path: Path) -> None:
    configs = configuration("flat"), configuration("cheap")
    found = findings(tmp_path, two_configurations(cpu=None), *configs)
    assert [row(found, name).rank for name in ("flat", "cheap")] == [2, 1]
    assert found.experiment.rank_by == "overhead"


def memory_trial(number: int, **changes: Any) -> TrialRecord:
    snapshots = {"collected": {"heap_used_bytes": 5_000_000.0}}
    usual = {"cell": record().cell.playing("memory"), "rss_peak_bytes": 90_000_000, "snapshots": snapshots}
    return replace(record(number, 0), **(usual | changes))


def test_memory_comes_from_the_extra_trial_and_has_no_interval(tmp_path: Path) -> None:
    found = row(findings(tmp_path, [*sampled(), memory_trial(99)]))
    heap, rss = measure(found, "heap_live", ""), measure(found, "rss_peak", "")
    assert (heap.estimate, rss.estimate, heap.unit) == (5_000_000, 90_000_000, "bytes")
    assert (heap.n_blocks, heap.ci95, found.records.blocks) == (1, None, 3)


def test_a_failed_memory_trial_is_a_note_and_changes_nothing_else(tmp_path: Path) -> None:
    failed = Verdict(code="jvm-ended", severity="error", text="the JVM ended")
    trials = [memory_trial(n, status="failed", verdicts=(failed,)) for n in (98, 99)]
    with_it, without = findings(tmp_path, [*sampled(), *trials]), findings(tmp_path / "other", sampled())
    assert [(v.code, v.severity) for v in row(with_it).verdicts] == [("no-memory-trial", "note")]
    assert row(with_it).measures == row(without).measures
    assert (row(with_it).rank, with_it.verdicts) == (row(without).rank, without.verdicts)


def test_start_up_drain_and_bytes_are_told(tmp_path: Path) -> None:
    moments = Moments(spawned=100, main=400, first_monitored=900, first_call=10**9, last_call=2 * 10**9, drained=2**31)
    trials = [
        replace(trial, moments=moments, ledger=ledger(10_000, bytes=560_000))
        if trial.cell.use.agent == "fake"
        else trial
        for trial in sampled()
    ]
    found = row(findings(tmp_path, trials))
    assert measure(found, "startup_main", "").estimate == 300
    assert measure(found, "startup_first_call", "").estimate == 800
    assert measure(found, "drain_time", "").estimate == 2**31 - 2 * 10**9
    assert measure(found, "bytes", "record").estimate == 56
    baseline = row(findings(tmp_path / "other", trials), "baseline")
    assert not {"drain_time", "bytes", "startup_main"} & {one.name for one in baseline.measures}


def test_the_quiet_wait_is_told_in_cores(tmp_path: Path) -> None:
    waited = replace(account(caller=1), waiting_cores=0.25)
    found = row(findings(tmp_path, [replace(trial, cpu=waited) for trial in sampled()]))
    assert measure(found, "cpu_waiting", "").estimate == 0.25


def test_the_papers_estimator_is_mean_and_deviation_over_all_starts(tmp_path: Path) -> None:
    values = iter((100.0, 104.0, 900.0, 102.0, 106.0, 1000.0))
    trials = [replace(trial, second_half_mean_ns=next(values)) for trial in sampled(2)]
    found = findings(tmp_path, trials)
    ours, baseline = (measure(row(found, name), "service_time_second_half") for name in ("flat", "baseline"))
    assert (ours.estimate, ours.sd) == (950, pytest.approx(70.71, abs=0.01))
    assert (baseline.estimate, baseline.n_blocks, baseline.sd) == (103, 2, pytest.approx(2.582, abs=0.001))


def test_every_trials_cpu_stands_in_the_measures_file() -> None:
    table = measures([sampled(1)[2], memory_trial(99)])
    rows = {(one["trial"], one["measure"]): one["value"] for one in table.to_dicts()}
    assert rows[12, "cpu_agent_to_drained"] == 201_000
    assert rows[12, "in_calls"] == 90_000
    assert rows[99, "heap_live"] == 5_000_000
