"""Several workloads in one run: each part's trials are made with the equipment of its own workload."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import FAKE, agents, configuration, experiment, fake_equipment, new_run
from tests.run.test_session import Watcher
from tracetax.analysis.findings import build
from tracetax.errors import ExitCode, UserError
from tracetax.machine.facts import machine_facts
from tracetax.machine.toolchain import Interpreter
from tracetax.model import BASELINE, Agent, Experiment, Use
from tracetax.program import Runtime
from tracetax.run import prepare
from tracetax.run.describe import estimated_seconds, plan_lines
from tracetax.run.equipment import Equipment
from tracetax.run.plan import block, cells, memory_cells
from tracetax.run.session import Session

FLAT, OTHER = configuration("flat"), configuration("warming-up")
ONE, TWO = "calltree/one", "calltree/two"
PLAIN = Runtime(key="plain", name="Plain", settings={})


def both(blocks: int = 1, memory: bool = False) -> Experiment:
    """The first workload is measured with two configurations, the second, which has no heap, with one."""
    what = experiment(FLAT, OTHER, blocks=blocks, memory=memory)
    (part,) = what.parts
    first = replace(part, name="p-one", title="P, One", levels="One", workload=ONE)
    second = replace(part, name="p-two", title="P, Two", levels="Two", workload=TWO, settings={}, uses=part.uses[:1])
    return replace(what, workload=f"{ONE}, {TWO}", parts=(first, second))


def of_both() -> dict[str, Agent]:
    """The agents for two languages, in which the same name is another agent."""
    first, second = agents(FLAT, OTHER), agents(replace(FLAT, title="flat in two"))
    return {
        **{f"{key}/one": replace(agent, language="one") for key, agent in first.items()},
        **{f"{key}/two": replace(agent, language="two") for key, agent in second.items()},
    }


def equipped(sink: Path) -> Equipment:
    """Equipment whose interpreters differ by the workload."""
    first = fake_equipment(sink, FLAT, OTHER)
    second = fake_equipment(sink, FLAT)
    runs = Interpreter(FAKE, FAKE.parent, version="2", release=2, name="Plain")
    other = replace(
        second,
        runtime=replace(PLAIN, threads=first.runtime.threads),
        workload=replace(first.workload, key=TWO),
        interpreters={0: runs},
        built=Path("second"),
    )
    return replace(first, workload=replace(first.workload, key=ONE), others={TWO: other})


def test_each_workload_alone_is_an_experiment_with_its_agents_by_their_names() -> None:
    alone = prepare.each_alone(both(), of_both())
    assert list(alone) == [ONE, TWO]
    (first, its), (second, others) = alone.values()
    assert [(one.workload, [part.name for part in one.parts]) for one in (first, second)] == [
        (ONE, ["p-one"]),
        (TWO, ["p-two"]),
    ]
    assert {part.workload for one in (first, second) for part in one.parts} == {""}
    assert [sorted(its), sorted(others)] == [["fake", "none"]] * 2
    assert (its["fake"].language, others["fake"].language) == ("one", "two")
    single = experiment(FLAT)
    assert prepare.each_alone(single, agents(FLAT)) == {"": (single, agents(FLAT))}


def test_the_trials_of_a_part_are_made_with_the_equipment_of_its_workload(tmp_path: Path, sink_binary: Path) -> None:
    what = both(blocks=2, memory=True)
    folder = new_run(tmp_path / "r", what)
    folder.write_manifest(replace(folder.manifest, agents=of_both(), runtimes={ONE: PLAIN, TWO: PLAIN}))
    watcher = Watcher()
    ended = Session(what, equipped(sink_binary), folder, watcher).run()
    assert ended.parts == {"p-one": "max-blocks", "p-two": "max-blocks"}
    records = folder.records()
    assert {record.status for record in records} == {"ok"}
    for record in records:
        path = record.command[record.command.index("-cp") + 1]
        assert path == ("classes" if record.cell.part == "p-one" else "second")
    for number in (1, 2):
        parts = [turn.cell.part for turn in watcher.trials if (turn.block, turn.attempt) == (number, 1)]
        assert (parts.count("p-one"), parts.count("p-two")) == (4, 3)
    in_memory = [record.cell.part for record in records if record.cell.role == "memory"]
    assert in_memory == ["p-one"] * 3
    rows = [(row.part, row.title) for row in build(folder).configurations if not row.is_baseline]
    assert rows == [("p-one", "flat"), ("p-one", "warming-up"), ("p-two", "flat in two")]


def test_workloads_are_paired_in_time() -> None:
    every = cells(both(), of_both())
    orders = [[turn.cell.part for turn in block(number, every, seed=1)] for number in range(1, 6)]
    assert all(len(order) == 7 for order in orders)
    assert any(order not in (sorted(order), sorted(order, reverse=True)) for order in orders)


def test_memory_is_neither_measured_nor_counted_where_no_heap_is_set() -> None:
    every = cells(both(), of_both())
    assert {cell.part for cell in memory_cells(every)} == {"p-one"}
    without, with_memory = (estimated_seconds(both(memory=memory), of_both())[0] for memory in (False, True))
    (first,) = (part for part in both().parts if part.settings)
    one = replace(both(memory=True), parts=(first,))
    alone = (
        estimated_seconds(one, of_both())[0] - estimated_seconds(replace(one, schedule=both().schedule), of_both())[0]
    )
    assert with_memory - without == pytest.approx(alone)


def test_what_must_stay_the_same_is_told_by_workload(tmp_path: Path) -> None:
    equipment = equipped(tmp_path / "sinks" / "one" / "sink")
    (tmp_path / "a").mkdir()
    built = replace(equipment, others={TWO: replace(equipment.others[TWO], built=tmp_path / "a")})
    machine = machine_facts(tmp_path)
    before = prepare.hashes(both(), equipment, machine)
    after = prepare.hashes(both(), built, machine)
    assert [name for name in before if before[name] != after[name]] == [f"the workload in {TWO}"]
    assert {f"the agent fake in {ONE}", f"the agent fake in {TWO}", f"the file of the workload {TWO}"} <= set(before)


def test_all_refusals_of_all_workloads_are_told_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(one: Experiment, root: Path) -> None:
        raise UserError(f"{one.workload} cannot be measured", ExitCode.ENVIRONMENT)

    monkeypatch.setattr(prepare, "program_of", refused)
    with pytest.raises(UserError, match=f"{ONE} cannot be measured\n{TWO} cannot be measured") as caught:
        prepare.refuse(both(), of_both(), tmp_path)
    assert caught.value.exit_code == ExitCode.ENVIRONMENT


def test_the_plan_names_what_runs_each_part(tmp_path: Path) -> None:
    first = fake_equipment(tmp_path, FLAT).runtime
    text = "\n".join(plan_lines(both(), of_both(), 1, first, {ONE: first, TWO: PLAIN}))
    assert (
        "P, One: 200 calls × 3 invocations, back to back, 1 thread; the JDK that is found first, heap 64 MiB, G1"
        in text
    )
    assert "P, Two: 200 calls × 3 invocations, back to back, 1 thread; built by the one that is found first" in text
    assert "A block is each of these 7 trials once" in text
    assert "fake flat: flat in two, promises complete" in text
    assert "JVM and Plain: as named above, the same for baseline and agents of a part" in text


def test_a_part_knows_its_agents() -> None:
    first, second = both().parts
    assert [part.agent_key(BASELINE.agent) for part in (first, second)] == ["none/one", "none/two"]
    assert experiment(FLAT).parts[0].agent_key(Use("fake", "flat").agent) == "fake"
