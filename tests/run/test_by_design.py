"""What an agent leaves out by design: trees that it cuts, calls that it does not sample; neither is ever a loss."""

from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import agents, configuration, experiment, part
from tests.run.test_trial import codes, trial
from tracetax.analysis.delivery import delivers_everything, total
from tracetax.companions.sink import Sink
from tracetax.kinds import declaration_of
from tracetax.ledger import ProtocolCount, Sampling, account
from tracetax.model import BASELINE, Configuration, Delivery, Memory, Part, heap_of
from tracetax.run import backends
from tracetax.run.plan import cells, expected_records, heap_for, records_due
from tracetax.run.verdicts import of_sample
from tracetax.run.warm_up import burst_calls

CUTS = replace(configuration("cuts", flags=("-Dlimit=2",)), tree_limit=2)
SAMPLES = configuration("samples", Delivery.SAMPLED, flags=("-Dsample=10",))


def records_truncated(config: Configuration, part: Part) -> int:
    parameters = part.parameters
    return declaration_of(parameters).records_truncated(parameters, config, parameters.calls)


def test_what_is_cut_is_not_expected() -> None:
    deep, two = part(CUTS, calls=10, depth=128), replace(CUTS, records_per_invocation=2)
    assert (expected_records(CUTS, deep), records_truncated(CUTS, deep)) == (20, 1_260)
    assert (expected_records(two, deep), records_truncated(two, deep)) == (40, 2_520)
    shallow = part(CUTS, calls=10, depth=2)
    assert (expected_records(CUTS, shallow), records_truncated(CUTS, shallow)) == (20, 0)


def test_nor_is_memory_or_a_longer_warm_up_needed_for_it() -> None:
    deep, unlimited = part(CUTS, calls=10, depth=128), replace(CUTS, tree_limit=None)
    assert burst_calls(CUTS, deep.parameters, True) > burst_calls(unlimited, deep.parameters, True)
    greedy = replace(unlimited, memory=Memory(base_bytes=128 << 20, per_record_bytes=1 << 20))
    assert heap_for(unlimited, deep) == heap_of(deep.settings)
    assert heap_for(greedy, deep) == (128 + 1_280) << 20
    assert heap_for(replace(greedy, tree_limit=2), deep) == 192 << 20  # 128 + 20 MiB, in whole 64 MiB


def test_a_configuration_that_needs_more_heap_gets_baselines_with_the_same() -> None:
    greedy = replace(configuration("greedy"), memory=Memory(base_bytes=100 << 20, per_record_bytes=0))
    modest = configuration("modest")
    found = {
        (cell.role if cell.role != "configuration" else cell.use.configuration, cell.heap_bytes >> 20)
        for cell in cells(experiment(modest, greedy), agents(modest, greedy))
    }
    assert found == {
        *(("baseline-1", heap) for heap in (64, 128)),
        *(("baseline-2", heap) for heap in (64, 128)),
        ("modest", 64),
        ("greedy", 128),
    }


def test_a_tree_that_is_cut_is_complete_and_what_is_left_out_is_noted(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, CUTS)
    assert (record.status, codes(record)) == ("ok", {"truncated"})
    ledger = record.ledger
    assert ledger and (ledger.expected, ledger.received, ledger.truncated) == (400, 400, 200)
    assert ledger.complete_trees == 200
    assert (ledger.missing, ledger.completeness) == (0, 1.0)
    (verdict,) = (verdict for verdict in record.verdicts if verdict.code == "truncated")
    assert verdict.severity == "note"
    assert "after 2 invocations by design: 1 of each tree's records, 200 in all" in verdict.text
    records = total([record], 1)
    assert records.truncated == 200
    assert delivers_everything(records)


def test_an_agent_that_cuts_more_than_it_says_has_lost_records(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, replace(CUTS, flags=(*CUTS.flags[:2], "-Dlimit=1")))
    assert {"truncated", "records-lost"} <= codes(record)
    assert record.ledger and record.ledger.missing == 200


def test_of_a_sample_what_arrived_is_a_share_of_all_and_nothing_is_lost(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, SAMPLES)
    assert (record.status, codes(record)) == ("ok", set())
    ledger = record.ledger
    assert ledger and (ledger.expected, ledger.received, ledger.made, ledger.missing) == (0, 60, 600, 0)
    assert total([record], 1).completeness is None


def test_a_sample_of_as_many_as_are_due_has_no_verdict(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, replace(SAMPLES, sampling=Sampling(10, "count")))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger
    assert (record.ledger.received, record.ledger.due_least, record.ledger.due_most) == (60, 57, 63)


@pytest.mark.parametrize(
    ("one_in", "by", "found"),
    [(5, "count", "sample-loss"), (20, "count", "sample-exceeds"), (2, "chance", "sample-loss")],
)
def test_what_a_sampler_cannot_have_left_out_is_a_loss(
    tmp_path: Path, sink_binary: Path, one_in: int, by: Literal["count", "chance"], found: str
) -> None:
    record = trial(tmp_path, sink_binary, replace(SAMPLES, sampling=Sampling(one_in, by)))
    assert (record.status, codes(record)) == ("ok", {found})
    records = total([record], 1)
    assert (records.missing_of_sample > 0, records.blocks_incomplete) == (
        (True, 1) if found == "sample-loss" else (False, 0)
    )


def test_one_that_samples_by_time_is_held_to_its_windows(tmp_path: Path, sink_binary: Path) -> None:
    short, long = Sampling(by="time", at_most=10, per_ns=1), Sampling(by="time", at_most=10, per_ns=3600 * 10**9)
    record = trial(tmp_path / "short", sink_binary, replace(SAMPLES, sampling=short))
    assert record.ledger and (record.ledger.due_most, codes(record)) == (600, set())
    record = trial(tmp_path / "long", sink_binary, replace(SAMPLES, sampling=long))
    assert record.ledger and (record.ledger.due_least, record.ledger.due_most, codes(record)) == (0, 60, set())
    few = replace(long, at_most=1)
    assert codes(trial(tmp_path / "few", sink_binary, replace(SAMPLES, sampling=few))) == {"sample-exceeds"}


def test_what_is_due_by_time_depends_on_how_long_the_calls_lasted() -> None:
    config = replace(SAMPLES, sampling=Sampling(by="time", at_most=60, per_ns=3 * 10**9))
    own = part(config, calls=10_000, depth=10)
    assert records_due(config, own, 10 * 10**9) == (1_200, 3_000)
    assert records_due(config, own, 2 * 10**9) == (0, 1_200)
    assert records_due(SAMPLES, own, 10 * 10**9) == (0, 0)
    lacking = account(
        ProtocolCount(records=900), expected_records=0, expected_trees=0, dropped_in_log=0, made=100_000,
        due=(1_200, 3_000),
    )  # fmt: skip
    (verdict,) = of_sample(lacking, lacking, config)
    assert verdict.code == "sample-loss"
    assert "a sampler of 60 calls in 3 s lets 1,200 to 3,000 records through" in verdict.text


def test_a_sample_of_nothing_is_told_where_nobody_knows_what_is_due() -> None:
    nothing = account(ProtocolCount(), expected_records=0, expected_trees=0, dropped_in_log=0, made=2_000_000)
    some = account(ProtocolCount(records=60), expected_records=0, expected_trees=0, dropped_in_log=0, made=10_000)
    (verdict,) = of_sample(nothing, some, SAMPLES)
    assert (verdict.code, verdict.severity) == ("sample-empty", "warning")
    assert verdict.text.startswith("of 2,000,000 records of the measured calls none arrived")
    assert of_sample(some, some, SAMPLES) == []
    (verdict,) = of_sample(nothing, some, replace(SAMPLES, sampling=Sampling(by="time", at_most=60, per_ns=3 * 10**9)))
    assert verdict.text.endswith("the calls were over before its sampler had to let one through")
    (verdict,) = of_sample(nothing, nothing, SAMPLES)
    assert verdict.code == "nothing-recorded"


def test_what_a_sample_lacks_is_told_with_what_the_agent_admits() -> None:
    config = replace(SAMPLES, sampling=Sampling(20, "count"))
    due = account(
        ProtocolCount(records=74_610), expected_records=0, expected_trees=0, dropped_in_log=5, made=2_000_000,
        due=(99_990, 100_010),
    )  # fmt: skip
    (verdict,) = of_sample(due, due, config)
    assert (verdict.code, verdict.severity) == ("sample-loss", "warning")
    assert verdict.text.startswith("25,390 of 100,000 sampled records never arrived: 74,610 did")
    assert verdict.text.endswith("lets 99,990 to 100,010 records through; the agent reports 5 as dropped")


def test_what_a_sample_sends_late_still_belongs_to_its_phase(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, SAMPLES)
    assert record.warm_up and record.ledger
    assert record.warm_up.ledger.received > record.ledger.received
    assert record.warm_up.ledger.received % 3 == 0


@pytest.mark.parametrize("behaviour", ["records-nothing", "wrong-name"])
def test_a_sample_of_nothing_at_all_fails(tmp_path: Path, sink_binary: Path, behaviour: str) -> None:
    record = trial(tmp_path, sink_binary, configuration(behaviour, Delivery.SAMPLED))
    assert record.status == "failed"
    assert "nothing-recorded" in codes(record)


def test_the_sink_speaks_only_what_the_configuration_reaches_and_all_beside_the_baseline(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[tuple[str, ...]] = []

    class Watched(Sink):
        def __enter__(self) -> "Watched":
            commands.append(self.command)
            return self

    monkeypatch.setattr(backends, "Sink", Watched)
    trial(tmp_path / "fake", sink_binary, CUTS)
    trial(tmp_path / "none", sink_binary, CUTS, BASELINE)
    agent, baseline = commands
    assert agent[agent.index("--protocols") + 1] == "otlp-http"
    assert agent[agent.index("--depth") + 1] == "2"
    assert "--protocols" not in baseline
    assert baseline[baseline.index("--depth") + 1] == "3"


def test_what_an_agent_says_its_limit_left_out_is_truncated_and_not_dropped() -> None:
    count = ProtocolCount(records=501, limited_trees=1, limited_records=9)
    known = account(count, expected_records=501, expected_trees=1, dropped_in_log=0, truncated=9)
    assert (known.dropped_reported, known.truncated, known.missing) == (0, 9, 0)
    lower = account(count, expected_records=510, expected_trees=1, dropped_in_log=0)  # a limit that no file tells of
    assert (lower.dropped_reported, lower.missing) == (9, 0)
