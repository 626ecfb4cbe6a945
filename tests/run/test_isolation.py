"""The processes of a trial run where the plan says, seen while it runs."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import FAKE, HEAP, configuration, experiment, fake_equipment, new_run
from tracetax.machine.isolation import Isolation
from tracetax.model import Use
from tracetax.results.records import Cell
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.trial import run_trial

ALLOWED = sorted(os.sched_getaffinity(0))


def children() -> dict[str, set[int]]:
    """The processors of every child, by a word of its command."""
    found: dict[str, set[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(") ", 1)[1].split()[1])
            command = (stat.parent / "cmdline").read_text()
            if parent == os.getpid():
                name = "workload" if str(FAKE) in command else Path(command.split("\0")[0]).name
                found[name] = os.sched_getaffinity(int(stat.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(len(ALLOWED) < 2, reason="needs two processors")
def test_workload_and_sink_run_on_the_cores_that_the_plan_gives_them(tmp_path: Path, sink_binary: Path) -> None:
    first, second, *_ = ALLOWED
    seen: dict[str, set[int]] = {}

    def watch(doing: str) -> None:
        if doing == "ending":
            seen.update(children())

    config = configuration("flat")
    what = experiment(config)
    isolation = Isolation(workload=(second,), companions=(first,), allowed=(first, second), processors=1)
    equipment = replace(fake_equipment(sink_binary, config), cores=1, isolation=isolation)
    cell = Cell(part="p", use=Use(agent="fake", configuration="flat"), heap_bytes=HEAP)
    plan = TrialPlan(number=1, turn=Turn(block=1, block_size=1, cell=cell), part=what.parts[0], config=config)
    record = run_trial(plan, equipment, new_run(tmp_path / "run", what, config), watch)
    assert record.status == "ok", record.verdicts
    assert seen["workload"] == {second}
    assert seen[sink_binary.name] == {first}
    assert "-XX:ActiveProcessorCount=1" in record.command
    assert record.disturbance and record.disturbance.interrupts >= 0
