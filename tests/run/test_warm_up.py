"""Bursts stay below a quarter of the agent's queue, end on whole batches, and are not waited for in vain for ever.

After them the compilers are waited for: until they rest, and not for ever.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.run.stand_ins import configuration
from tracetax.companions.receiver import Counts
from tracetax.companions.sink import SinkLost
from tracetax.kinds import declaration_of
from tracetax.kinds.calltree import TreeParameters
from tracetax.machine.isolation import Isolation
from tracetax.machine.processes import ProcessTree
from tracetax.machine.threads import Work
from tracetax.model import Configuration
from tracetax.program import ThreadNames
from tracetax.run.context import TrialContext
from tracetax.run.drops import DropLog
from tracetax.run.equipment import Limits
from tracetax.run.network import ReceiverArrivals
from tracetax.run.warm_up import (
    LARGEST_BURST_RECORDS,
    REST_QUIET_SECONDS,
    await_rest,
    burst_calls,
    enough,
    rounding_bursts,
    warm_up,
)
from tracetax.workloads.driver import TOP_TIER, Status, WorkloadFailed

CONFIG = configuration("flat")
MS = 1_000_000


@given(queue=st.integers(100, 100_000), depth=st.integers(1, 20), threads=st.integers(1, 2))
def test_a_burst_fills_at_most_a_quarter_of_the_queue(queue: int, depth: int, threads: int) -> None:
    parameters = TreeParameters(calls=1, depth=depth, threads=threads)
    calls = burst_calls(replace(CONFIG, queue=queue), parameters, delivers=True)
    assert calls * depth <= max(queue // 4, threads * depth)
    assert calls * depth <= max(LARGEST_BURST_RECORDS, threads * depth)


def test_a_burst_is_made_of_whole_chunks_where_that_is_possible() -> None:
    assert burst_calls(replace(CONFIG, queue=2048), TreeParameters(calls=1, depth=10), delivers=True) == 48
    assert burst_calls(replace(CONFIG, queue=400), TreeParameters(calls=1, depth=10), delivers=True) == 10


def test_a_queue_of_whole_trees_holds_the_more_records_the_deeper_they_are() -> None:
    trees = replace(CONFIG, queue_trees=1500, tree_limit=300)
    assert [queue_records(trees, depth) for depth in (1, 10, 310)] == [1500, 15_000, 450_000]
    assert queue_records(replace(CONFIG, queue=512), depth=10) == 512


def queue_records(config: Configuration, depth: int) -> int | None:
    parameters = TreeParameters(calls=1, depth=depth)
    return declaration_of(parameters).queue_records(parameters, config)


@given(queue=st.integers(100, 100_000), held=st.integers(0, 50_000))
def test_what_may_be_outstanding_leaves_room_for_the_next_burst(queue: int, held: int) -> None:
    outstanding = enough(replace(CONFIG, queue=queue, held_back=held))
    assert outstanding >= held
    assert outstanding + queue // 4 <= max(queue, held + queue // 4)


@given(calls=st.integers(1, 10_000), held=st.sampled_from([511, 8191, 99]), per_call=st.integers(1, 40))
def test_the_warm_up_ends_on_a_whole_batch(calls: int, held: int, per_call: int) -> None:
    batching = replace(CONFIG, held_back=held, flush_interval_ns=5 * 10**9)
    more = rounding_bursts(calls, 48, batching, TreeParameters(calls=1, depth=per_call))
    assert (calls + sum(more)) * per_call % (held + 1) == 0
    assert all(0 < one <= 48 for one in more)


def test_without_batches_nothing_is_rounded() -> None:
    assert rounding_bursts(7, 48, CONFIG, TreeParameters(calls=1, depth=10)) == []


class StandIn:
    """A sink at which a given number of records has arrived, long ago."""

    def __init__(self, records: int) -> None:
        self.records = records
        self.asked = 0

    def counts(self) -> Counts:
        self.asked += 1
        return Counts(
            phase="warm-up",
            records=self.records,
            bytes=0,
            last_arrival_ns=0,
            open_connections=1,
            malformed=0,
            cpu_ns=0,
        )


class DriverStandIn:
    """A workload whose code is compiled to the end after so many calls."""

    def __init__(self, compiled_after: int) -> None:
        self.compiled_after = compiled_after
        self.made = 0

    def say(self, command: str) -> None:
        self.made += int(command.removeprefix("warm-up "))

    def wait_for(self, name: str, limit: float, interval: float) -> Status:
        assert name == "warmed"
        assert interval < limit
        level = str(TOP_TIER if self.made >= self.compiled_after else TOP_TIER - 1)
        return Status(name, 0, {"driver": str(TOP_TIER), "method": level, "how": "codelist"}, "")


class FailingStandIn(DriverStandIn):
    """One whose calls fail, since what it needs has ended, if that has."""

    def __init__(self, lost: SinkLost | None) -> None:
        super().__init__(0)
        self.lost = lost

    def wait_for(self, name: str, limit: float, interval: float) -> Status:
        return Status(name, 0, {"failed": "3"}, "failed=3 because db: status 500")

    def look_beside(self) -> None:
        if self.lost:
            raise self.lost


PARAMETERS = TreeParameters(calls=1, depth=10)


def context_of(driver: Any, sink: Any) -> TrialContext:
    return TrialContext(
        config=CONFIG,
        parameters=PARAMETERS,
        expected=0,
        least_warm_up_calls=10_000,
        threads=ThreadNames(),
        limits=Limits(),
        isolation=Isolation(),
        receiver=sink,
        driver=driver,
        tree=ProcessTree(os.getpid(), follow=False),
        drops=DropLog(None, ()),
        watch=lambda _: None,
    )


def test_where_calls_fail_what_ended_beside_the_workload_is_the_reason() -> None:
    sink: Any = StandIn(records=0)
    with pytest.raises(SinkLost, match="the store is gone"):
        warm_up(context_of(FailingStandIn(SinkLost("the store is gone")), sink), arrivals(sink))
    with pytest.raises(WorkloadFailed, match="3 calls of the warm-up failed"):
        warm_up(context_of(FailingStandIn(None), sink), arrivals(sink))


@pytest.mark.parametrize(("compiled_after", "least"), [(0, 10_000), (30_000, 30_000)])
def test_a_warm_up_goes_on_until_the_code_is_compiled_and_for_ten_thousand_calls(
    compiled_after: int, least: int
) -> None:
    driver: Any = DriverStandIn(compiled_after)
    sink: Any = StandIn(records=0)
    warmed = warm_up(context_of(driver, sink), arrivals(sink))
    burst = burst_calls(CONFIG, PARAMETERS, delivers=False)
    assert least <= warmed.calls == driver.made < least + burst
    assert warmed.bursts == driver.made / burst


def arrivals(sink: Any, connect_ns: int = 0) -> ReceiverArrivals:
    return ReceiverArrivals(sink, DropLog(None, ()), quiet_ns=50_000_000, connect_ns=connect_ns)


def test_what_is_missing_after_a_quiet_wait_is_not_waited_for_again() -> None:
    sink = StandIn(records=90)
    waiting = arrivals(sink)
    waiting.wait(100)
    sink.records, sink.asked = 190, 0
    waiting.wait(200)
    assert sink.asked == 1
    assert waiting.seen
    assert not waiting.given_up


def test_where_nothing_ever_arrives_one_wait_is_enough() -> None:
    sink = StandIn(records=0)
    waiting = arrivals(sink)
    waiting.wait(100)
    assert waiting.given_up
    sink.asked = 0
    waiting.wait(1_000_000)
    assert sink.asked == 0


def test_an_agent_that_connects_late_is_awaited_until_then() -> None:
    sink = StandIn(records=0)
    waiting = arrivals(sink, connect_ns=60 * 10**9)
    for target in (100, 200, 300, 400):
        waiting.wait(target)
        assert not waiting.given_up
    sink.records = 100
    waiting.wait(500)
    assert waiting.seen
    sink.asked = 0
    waiting.wait(600)
    assert sink.asked > 1
    assert not waiting.given_up


def test_the_last_wait_is_made_in_any_case() -> None:
    sink = StandIn(records=0)
    waiting = arrivals(sink)
    waiting.wait(100)
    sink.asked = 0
    waiting.wait(200, last=True)
    assert sink.asked > 0


def test_at_the_last_wait_a_late_record_does_not_stand_in_for_one_that_is_to_come() -> None:
    sink = StandIn(records=90)
    waiting = arrivals(sink)
    waiting.wait(100)  # ten are written off
    sink.records, sink.asked = 190, 0  # the ten came, and of the next hundred ten did not yet
    waiting.wait(200, last=True)
    assert sink.asked > 1
    sink.records, sink.asked = 200, 0
    waiting.wait(200, last=True)
    assert sink.asked == 1


def test_drops_are_summed_over_a_growing_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    drops = DropLog(r"dropped ([\d,]+) span", (log, tmp_path / "absent"))
    assert drops.total() == 0
    log.write_text("dropped 5 spans\ndropped 1,0")
    assert drops.total() == 5
    log.write_text("dropped 5 spans\ndropped 1,000 spans\ndropped 7 spans")
    assert drops.total() == 1005
    assert drops.total(ended=True) == 1012


def test_a_drop_log_that_matches_words_is_an_error_of_the_agents_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("dropped many spans\n")
    with pytest.raises(WorkloadFailed, match="no number"):
        DropLog(r"dropped (\w+) span", (log,)).total()


def looks(*found: Work, then: Iterable[Work] = ()) -> Callable[[], Work]:
    """What is seen at each look; the last goes on, unless there is more."""
    left, more = list(found), iter(then)

    def look() -> Work:
        return left.pop(0) if len(left) > 1 else next(more, left[0])

    return look


def test_compilers_that_rest_are_waited_for_only_to_be_sure() -> None:
    rest = await_rest(looks(Work(7 * MS, wanted=False)), 5.0)
    assert (rest.reached, rest.compiling_ns) == (True, 0)
    assert rest.waited_ns >= REST_QUIET_SECONDS * 1e9


def test_the_queue_is_worked_off_first_also_where_others_have_the_cores() -> None:
    waiting = [Work(10 * MS, wanted=True)] * 20
    rest = await_rest(looks(Work(10 * MS, wanted=True), *waiting, Work(35 * MS, wanted=False)), 5.0)
    assert (rest.reached, rest.compiling_ns) == (True, 25 * MS)
    assert rest.waited_ns >= len(waiting) * 4 * MS + REST_QUIET_SECONDS * 1e9


def test_compilers_that_never_rest_are_not_waited_for_for_ever() -> None:
    endless = (Work(used * MS, wanted=False) for used in range(10_000))
    rest = await_rest(looks(Work(0, wanted=False), then=endless), 0.1)
    assert not rest.reached
    assert rest.waited_ns >= 0.1e9
