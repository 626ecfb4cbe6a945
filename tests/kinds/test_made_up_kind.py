"""A kind of workload is a module in ``kinds/``: no other file of Tracetax has to know it for a trial to be made."""

import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.report.sample_findings import sample_findings
from tests.report.test_terminal import printed
from tests.run.stand_ins import HEAP, WORKLOAD, agents, configuration, experiment, fake_equipment
from tests.run.test_stages import Stage, StagedSink
from tracetax import kinds
from tracetax.errors import UserError
from tracetax.kinds import declaration, declaration_of
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Search, Use
from tracetax.parameters import Offers
from tracetax.report import kinds as told
from tracetax.results.blocks import charged_per_call, service_mean
from tracetax.results.records import Cell, CpuAccount, CpuTimes, Durations, Moments, SteadyPart, TrialRecord
from tracetax.run import backends
from tracetax.run.capacity import at_rate
from tracetax.run.describe import budget_words, part_words
from tracetax.run.files import RecordsFolder
from tracetax.run.outcome import finished
from tracetax.run.plan import TrialPlan, Turn, cells, check_samples, expected_records, expected_seconds, heap_for
from tracetax.run.program import ProgramStart
from tracetax.run.stages import conduct_or_end
from tracetax.workloads.kinds import Measured

SENT = configuration("flat")
CALLS = 200


@pytest.fixture(autouse=True)
def parameters(monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """Those of the kind ``mix``, whose modules stand where those of all kinds are found."""
    for package, folder in ((kinds, "declared"), (told, "told")):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(Path(__file__).with_name(folder))])
    yield declaration("mix").parameters_to_check(Offers(threads_max=1, wait=("park",)))
    for package in (kinds, told):
        sys.modules.pop(f"{package.__name__}.mix", None)


@pytest.fixture
def plan(parameters: Any) -> TrialPlan:
    """A trial of calls that make two or four records in turn."""
    part = replace(experiment(SENT).parts[0], parameters=replace(parameters, calls=CALLS, small=2))
    cell = Cell(part=part.name, use=Use(agent="fake", configuration=SENT.name), heap_bytes=HEAP)
    return TrialPlan(number=1, turn=Turn(block=1, block_size=1, cell=cell), part=part, config=SENT)


def test_it_is_planned_by_what_its_module_declares(plan: TrialPlan) -> None:
    part, cell = plan.part, plan.cell
    assert not hasattr(part.parameters, "depth")
    assert expected_records(SENT, part) == plan.expected == 600
    assert part_words(part) == "200 calls, small and large"
    assert expected_seconds(cell, part, SENT) == pytest.approx(8.0 + 0.15 * HEAP / 2**30)
    assert expected_seconds(cell.baseline("baseline-1"), part, SENT) == pytest.approx(7.0 + 0.15 * HEAP / 2**30)
    assert heap_for(SENT, part) == HEAP
    what = replace(experiment(SENT), parts=(part,))
    assert budget_words(what, agents(SENT)) == ""
    with pytest.raises(UserError, match="The samples of 200 calls in part p take 216 MiB of the heap"):
        check_samples(what, cells(what, agents(SENT)))


class WholeTrees(StagedSink):
    """A sink at which every call's tree is whole."""

    def _phase(self, name: str) -> dict[str, Any]:
        count = {"records": 3 * self.stage.calls[name], "complete_trees": self.stage.calls[name]}
        return {**super()._phase(name), "protocols": {"otlp-http": count}}


def test_it_is_warmed_up_measured_and_accounted_for(plan: TrialPlan, tmp_path: Path) -> None:
    record = made(plan, tmp_path)
    assert (record.status, record.warm_up is None, record.ledger is None) == ("ok", False, False)
    assert record.ledger and record.warm_up
    ledger, before = record.ledger, record.warm_up.ledger
    assert (ledger.made, ledger.expected, ledger.received, ledger.missing) == (600, 600, 600, 0)
    assert (record.warm_up.calls % 2, before.expected) == (0, 3 * record.warm_up.calls)
    assert before.received == before.expected >= 3 * WORKLOAD.least_warm_up_calls
    assert {verdict.code for verdict in record.verdicts if verdict.severity == "error"} == set()


def test_what_its_callers_used_is_charged_as_it_was_sampled(plan: TrialPlan, tmp_path: Path) -> None:
    times = CpuTimes(caller=300 * CALLS, agent=200 * CALLS, jit=0, gc=0, jvm=0, ended=0)
    record = replace(made(plan, tmp_path), cpu=CpuAccount(times, times, None, {}), in_calls_ns=100 * CALLS)
    assert charged_per_call(record) == 500


def made(plan: TrialPlan, folder: Path) -> TrialRecord:
    """The record of a trial whose processes are stand-ins."""
    (folder / "records").mkdir()
    stage: Any = Stage(folder / "records")
    equipment = fake_equipment(Path("sink"), SENT)
    records = RecordsFolder(folder / "records")
    start = ProgramStart(plan, equipment, (), {}, folder, folder)
    outcome = conduct_or_end(start, WholeTrees(stage), stage, records, stage.told)
    record = TrialRecord(
        number=1, block=1, block_size=1, cell=plan.cell, parameters=plan.part.parameters, attempt=1, status="failed",
        verdicts=(), command=(), environment={}, started_at="", moments=Moments(spawned=0),
    )  # fmt: skip
    return finished(plan, record, outcome, MEASURED, equipment.threads)


MEASURED = Measured(
    steady=SteadyPart(kind="flat", first_bin=0, bins=1000, change_points=()),
    service=Durations(mean=5.0, median=5.0, p90=5.0, p99=5.0, p999=5.0, max=5.0, count=CALLS),
    response=None,
    lateness=None,
    second_half_mean_ns=5.0,
    in_calls_ns=5 * CALLS,
    callers_cpu_ns=5 * CALLS,
    allocated_bytes_per_call=None,
    heap=None,
    clock_resolution_ns=1.0,
    clock_read_ns=1.0,
    snapshots={},
    jvm_flags="",
    versions={},
)


def test_the_sink_is_told_its_trees(plan: TrialPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Started(Exception):
        """In the place of a process."""

    def not_started(command: tuple[str, ...], **_: Any) -> None:
        raise Started(*command)

    monkeypatch.setattr("tracetax.companions.sink.Process", not_started)
    equipment = fake_equipment(Path("sink"), SENT)
    with pytest.raises(Started) as started, backends.receiver(plan, equipment, tmp_path, tmp_path):
        pass
    assert started.value.args[:3] == ("sink", "--sizes", "small=2")


def test_its_table_tells_cost_per_call_and_how_calls_were_made(parameters: Any) -> None:
    def as_mix(holder: Any) -> Any:
        return replace(holder, parameters=replace(parameters, rate=holder.parameters.rate))

    def per_call(row: Any) -> Any:
        costs = (cost for cost in row.measures if (cost.name, cost.per) != ("overhead", "invocation"))
        return replace(
            as_mix(row), measures=tuple(replace(cost, per=cost.per.replace("invocation", "call")) for cost in costs)
        )

    trees = sample_findings()
    mixed = replace(
        trees,
        experiment=replace(trees.experiment, parts=tuple(map(as_mix, trees.experiment.parts))),
        configurations=tuple(map(per_call, trees.configurations)),
    )
    assert re.search(r"\binvocation,", printed(trees, 140))
    assert not re.search(r"\binvocation,", printed(mixed, 140))
    assert re.search(r"\bcall,", printed(mixed, 140))
    assert "small and large calls, at" in printed(mixed, 140)


def test_what_is_compared_is_what_its_module_says(plan: TrialPlan, tmp_path: Path) -> None:
    record = replace(made(plan, tmp_path), response=replace(MEASURED.service, mean=9.0))
    assert service_mean(record) == 9.0
    assert service_mean(replace(record, parameters=TreeParameters(calls=CALLS, depth=3))) == 5.0


def test_where_no_rate_can_be_put_in_a_search_for_one_is_refused(plan: TrialPlan) -> None:
    with pytest.raises(UserError, match='P: workloads of the kind "mix" have no rate'):
        at_rate(plan.part, 100.0, Search())


@pytest.mark.parametrize("kind", ["made-up", "calltrees"])
def test_a_kind_without_a_module_is_told_with_the_module_that_it_lacks(kind: str) -> None:
    with pytest.raises(UserError, match=rf'The kind "{kind}" is not known: tracetax\.kinds\.{kind} would have'):
        declaration(kind)


def test_the_parameters_of_a_call_tree_find_the_call_tree() -> None:
    parameters = TreeParameters(calls=3, depth=5)
    assert declaration_of(parameters) is declaration("calltree")
    assert declaration_of(parameters).units(parameters, 7) == 35
