"""What one slow trial says about an agent's file, check by check, with a hint for each failure."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.results.trials import ledger, record
from tests.run.stand_ins import RUNTIME, WORKLOAD, configuration
from tracetax.analysis.agent_check import FileCheck, file_checks, fitting_name
from tracetax.model import Configuration, Delivery, Scrape
from tracetax.results.records import Moments, Verdict, WarmUp

SECOND = 10**9
TIMES = Moments(
    spawned=1,
    main=SECOND,
    first_monitored=2 * SECOND,
    first_call=3 * SECOND,
    last_call=13 * SECOND,
    drained=15 * SECOND,
)
CONFIG = replace(
    configuration("flat"), delivery=Delivery.COMPLETE, flush_interval_ns=5 * SECOND, record_name="Traced.method"
)


def found(config: Configuration = CONFIG, **changes: Any) -> dict[str, FileCheck]:
    values: dict[str, Any] = {"moments": TIMES, "ledger": ledger(10_000)}
    trial = record(**(values | changes))
    return {check.name: check for check in file_checks(trial, config, RUNTIME, "logs/0001")}


def states(of: dict[str, FileCheck]) -> dict[str, str]:
    return {name: check.state for name, check in of.items()}


def error(code: str, text: str) -> tuple[Verdict, ...]:
    return (Verdict(code=code, severity="error", text=text),)


def test_a_right_file_passes_every_check() -> None:
    seen = found()
    assert set(states(seen).values()) == {"ok"}
    assert list(seen) == ["started", "woven", "counted", "structure", "loss", "drain", "exit"]
    assert seen["counted"].text == "10,000 of 10,000 records of the measured calls"
    assert seen["drain"].text == "the last record came 2.0 s after the last call; flush_interval says 5 s"


def test_a_jvm_that_does_not_come_up_is_not_blamed_on_the_pattern() -> None:
    seen = found(
        moments=Moments(spawned=1), ledger=None, verdicts=error("jvm-ended", "the JVM ended with status 1\n  more")
    )
    assert seen["started"].state == "failed"
    assert seen["started"].text == "the JVM ended with status 1"
    assert "flags" in seen["started"].hint
    assert states(seen)["exit"] == "unknown"
    assert states(seen)["counted"] == "unknown"


def test_nothing_that_arrives_other_names_and_mere_metrics_are_told_apart() -> None:
    nothing = ledger(10_000, received=0)
    seen = found(ledger=nothing)
    assert "nothing arrived" in seen["woven"].text
    assert states(seen) == {
        "started": "ok", "woven": "failed", "counted": "unknown", "structure": "unknown", "loss": "unknown",
        "drain": "unknown", "exit": "ok",
    }  # fmt: skip
    assert seen["loss"].text == "nothing came"
    others = found(ledger=replace(nothing, unexpected={"Traced#method": 10}))["woven"]
    assert others.state == "failed"
    assert "Traced#method" in others.text
    assert "record_name" in others.hint
    metrics = found(ledger=replace(nothing, other_bytes={"metrics": 1_000, "logs": 0}))["woven"]
    assert "but metrics did" in metrics.text
    assert "pattern" in metrics.hint


def test_where_nothing_arrives_the_agent_has_the_last_word() -> None:
    trial = record(moments=TIMES, ledger=ledger(10_000, received=0))
    woven = file_checks(trial, CONFIG, RUNTIME, "logs/0001", "WARN it answered with status 2")[1]
    assert 'It says "WARN it answered with status 2", in logs/0001' in woven.hint
    assert "What it says: logs/0001" in file_checks(trial, CONFIG, RUNTIME, "logs/0001")[1].hint


def test_records_of_the_warm_up_show_that_it_is_woven() -> None:
    warm = WarmUp(calls=1, bursts=1, how="", driver_level=4, method_level=4, ledger=ledger(100))
    seen = found(ledger=ledger(10_000, received=0), warm_up=warm)
    assert seen["woven"].state == "ok"
    assert seen["counted"].state == "failed"
    assert "stop after a number" in seen["counted"].hint


def test_a_counter_has_to_rise_by_what_was_called() -> None:
    counting = replace(
        CONFIG, delivery=Delivery.AGGREGATED, scrape=Scrape(path="/metrics", metric="calls", interval_ns=1)
    )
    rose = replace(ledger(0), received=10_000, made=10_000)
    assert found(counting, ledger=rose)["counted"].state == "ok"
    half = Verdict("aggregate-differs", "warning", "calls rose by 5,000; 10,000 invocations were made")
    seen = found(counting, ledger=replace(rose, received=5_000), verdicts=(half,))["counted"]
    assert (seen.state, seen.text) == ("failed", half.text)
    assert "rise by one for each invocation" in seen.hint
    warm = WarmUp(calls=1, bursts=1, how="", driver_level=4, method_level=4, ledger=replace(ledger(0), received=100))
    stopped = found(counting, ledger=replace(rose, received=0), verdicts=(half,), warm_up=warm)["counted"]
    assert stopped.state == "failed"


def test_a_whole_fraction_and_too_many_point_to_their_keys() -> None:
    assert "records_per_invocation" in found(ledger=ledger(10_000, received=1_000))["counted"].hint
    many = found(ledger=ledger(10_000, received=20_000, expected_trees=1_000))["counted"]
    assert many.state == "failed"
    assert "more than the one method" in many.hint


def test_loss_fails_what_promises_everything_and_warns_of_what_may_drop() -> None:
    lost = ledger(10_000, received=9_990, complete_trees=999, expected_trees=1_000)
    assert found(ledger=lost)["loss"].state == "failed"
    lossy = found(replace(CONFIG, delivery=Delivery.LOSSY, drop_log=None), ledger=lost)
    assert (lossy["loss"].state, lossy["counted"].state, lossy["structure"].state) == ("warning",) * 3
    assert "drop_log" in lossy["loss"].hint
    admitted = found(replace(CONFIG, delivery=Delivery.LOSSY), ledger=replace(lost, dropped_reported=10))
    assert "as it admits itself" in admitted["loss"].text


def test_datagrams_that_the_kernel_lost_are_not_blamed_on_the_agent() -> None:
    lost = ledger(10_000, received=9_990, complete_trees=999, expected_trees=1_000, lost_datagrams=1)
    seen = found(ledger=lost)["loss"]
    assert seen.state == "warning"
    assert "the kernel lost 1 datagram on the way" in seen.text
    more = ledger(10_000, received=5_000, complete_trees=500, expected_trees=1_000, lost_datagrams=1)
    seen = found(ledger=more)["loss"]
    assert seen.state == "failed"
    assert "4,990 records are missing" in seen.text and "at most 10 records with them" in seen.text


def test_a_loss_of_the_warm_up_is_told_where_all_measured_records_arrived() -> None:
    lost = Verdict("warm-up-loss", "warning", "13,728 of 491,520 records of the warm-up never arrived")
    seen = found(verdicts=(lost,))
    assert {name for name, state in states(seen).items() if state != "ok"} == {"loss"}
    assert (seen["loss"].state, seen["loss"].text) == ("failed", lost.text)
    assert "queue" in seen["loss"].hint
    dropping = replace(CONFIG, delivery=Delivery.LOSSY)
    assert found(dropping, verdicts=(lost,))["loss"].state == "warning"
    less = found(ledger=ledger(10_000, received=9_990), verdicts=(lost,))["loss"]
    assert "10 records are missing" in less.text and lost.text in less.text


def test_of_a_sample_as_many_as_are_due_are_right() -> None:
    config = replace(CONFIG, delivery=Delivery.SAMPLED)
    due = ledger(0, received=500, made=10_000, due_least=490, due_most=510)
    assert found(config, ledger=due)["counted"].state == "ok"
    assert found(config, ledger=replace(due, received=300))["counted"].state == "failed"
    assert found(config, ledger=replace(due, received=0))["counted"].state == "unknown"


def test_a_drain_that_was_given_up_is_told() -> None:
    cut = Verdict("drain-cut", "warning", "400 of 10,000 records were outstanding when the drain was given up")
    assert found(verdicts=(cut,))["drain"] == FileCheck(
        "drain", "warning", cut.text, found(verdicts=(cut,))["drain"].hint
    )


def test_broken_trees_with_all_records_are_a_failure() -> None:
    broken = ledger(10_000, expected_trees=1_000, complete_trees=0, partial_trees=1_000, orphans=900)
    seen = found(ledger=broken)["structure"]
    assert seen.state == "failed"
    assert "900 records without a parent" in seen.text


def test_what_comes_later_than_the_flush_interval_is_told() -> None:
    late = found(moments=replace(TIMES, drained=20 * SECOND))["drain"]
    assert late.state == "warning"
    assert "7.0 s" in late.text
    after = (Verdict(code="after-drain", severity="warning", text="500 records came after the drain"),)
    assert found(verdicts=after)["drain"].state == "failed"


def test_a_jvm_that_does_not_end_fails_the_last_check_only() -> None:
    seen = found(verdicts=error("does-not-end", "it took KILL"))
    assert {name for name, state in states(seen).items() if state == "failed"} == {"exit"}
    assert "logs/0001" in seen["exit"].hint


def test_of_what_promises_nothing_only_start_and_end_can_be_checked() -> None:
    seen = found(replace(CONFIG, delivery=Delivery.NONE), ledger=ledger())
    known = {name for name, state in states(seen).items() if state != "unknown"}
    assert known == {"started", "exit"}


@pytest.mark.parametrize(
    ("arrived", "line"),
    [
        ({"tracetax.calltree.MonitoredClass#monitoredMethod": 10}, "{monitored.class}#{monitored.method}"),
        ({"MonitoredClass.monitoredMethod": 10, "GET /": 99}, "{monitored.simple_class}.{monitored.method}"),
        ({"monitoredMethod": 10, "x.monitoredMethod": 3}, "{monitored.method}"),
        ({"GET /": 10}, ""),
    ],
)
def test_the_line_for_record_name_is_told_by_the_names_that_arrived(arrived: dict[str, int], line: str) -> None:
    assert fitting_name(arrived, WORKLOAD.monitored.placeholders) == line
