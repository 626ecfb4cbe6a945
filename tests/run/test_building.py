"""A trial builds its program: what is run for which configuration, what that took, and what a failing build says."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import HEAP, configuration, experiment, fake_equipment, new_run
from tracetax.errors import UserError
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import BASELINE, Configuration, Delivery, Use
from tracetax.preparation import Compilation, PrepareStep, Program
from tracetax.process import left_behind
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.building import Built, build_program, check_buildable
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.trial import run_trial

PARAMETERS = TreeParameters(calls=200, depth=3, start_up_methods=6, start_up_monitored=2, start_up_built=True)
COPIER = """
import java.nio.file.*;
public final class Copier {
  public static void main(String[] a) throws Exception {
    Path target = Paths.get(a[1], a[2]);
    Files.createDirectories(target.getParent());
    Files.copy(Paths.get(a[0], a[2]), target);
  }
}
"""
MONITORED = "tracetax/generated/Monitored"


def copies(name: str, what: str, suffix: str) -> PrepareStep:
    """A step that weaves nothing and copies the monitored class."""
    arguments = (f"{{workload.{what}}}", "{out}", f"{MONITORED}.{suffix}")
    return PrepareStep(name, run=Program("Copier.java", ("{agent.files}",), ("-XX:TieredStopAtLevel=1",), arguments))


WEAVER = PrepareStep("weaver", unzip=("{agent.files}/weaver.zip",))
WOVEN = copies("woven", "built", "class")
REWRITTEN = copies("rewritten", "sources", "java")
RECOMPILED = PrepareStep("recompiled", compile=Compilation("{prepared.rewritten}", release=11))


def on_search_path(name: str, *folders: str) -> Configuration:
    entries = tuple(f"{{prepared.{folder}}}" for folder in folders)
    return replace(configuration(name, Delivery.NONE), search_path=(*entries, "{workload.built}"))


PLAIN, WEAVES, REWRITES = on_search_path("flat"), on_search_path("weaves", "woven"), on_search_path("rw", "recompiled")
CONFIGURATIONS = (PLAIN, WEAVES, REWRITES)


@pytest.fixture
def equipment(tmp_path: Path, sink_binary: Path) -> Equipment:
    files = tmp_path / "agents" / "fake" / "java" / "files"
    files.mkdir(parents=True)
    equipment = fake_equipment(sink_binary, *CONFIGURATIONS)
    fake = replace(equipment.agents["fake"], prepare=(WEAVER, WOVEN, REWRITTEN, RECOMPILED))
    return replace(equipment, agents=equipment.agents | {"fake": fake}, agents_root=tmp_path / "agents")


def plan(equipment: Equipment, use: Use, parameters: TreeParameters = PARAMETERS) -> TrialPlan:
    part = replace(experiment(*CONFIGURATIONS).parts[0], parameters=parameters)
    cell = Cell(part="p", use=use, heap_bytes=HEAP)
    config = equipment.configuration(use.agent, use.configuration)
    return TrialPlan(number=1, turn=Turn(block=1, block_size=1, cell=cell), part=part, config=config)


def with_copier(equipment: Equipment, tmp_path: Path) -> Equipment:
    """The equipment with a program that the steps can run, from its source."""
    source = tmp_path / "agents" / "fake" / "java" / "files" / "Copier.java"
    source.write_text(COPIER)
    steps = tuple(
        replace(step, run=replace(step.run, main=str(source))) if step.run else step
        for step in equipment.agents["fake"].prepare
    )
    return replace(equipment, agents=equipment.agents | {"fake": replace(equipment.agents["fake"], prepare=steps)})


def built(equipment: Equipment, tmp_path: Path, use: Use) -> Built:
    logs = tmp_path / "logs"
    logs.mkdir()
    return build_program(plan(equipment, use), equipment, tmp_path / "program", logs)


def classes(folder: Path) -> set[str]:
    return {path.stem for path in folder.rglob("*.class")}


@pytest.mark.parametrize("use", [BASELINE, Use("fake", "flat")])
def test_what_is_not_woven_before_a_run_is_compiled(equipment: Equipment, tmp_path: Path, use: Use) -> None:
    found = built(equipment, tmp_path, use)
    (folder,) = found.class_path
    assert classes(folder) == {"Monitored", "Unmonitored", "StartUp"}
    assert len(found.building.commands) == 1
    assert min(found.building.wall_ns, found.building.cpu_ns) > 10_000_000


def test_a_step_that_is_made_of_classes_comes_after_the_compiler_and_its_folder_first(
    equipment: Equipment, tmp_path: Path
) -> None:
    found = built(with_copier(equipment, tmp_path), tmp_path, Use("fake", "weaves"))
    assert [classes(folder) for folder in found.class_path] == [
        {"Monitored"},
        {"Monitored", "Unmonitored", "StartUp"},
    ]
    assert [Path(command[0]).name for command in found.building.commands] == ["javac", "java"]


def test_rewritten_sources_are_compiled_with_the_others_instead_of_the_original(
    equipment: Equipment, tmp_path: Path
) -> None:
    found = built(with_copier(equipment, tmp_path), tmp_path, Use("fake", "rw"))
    (folder,) = found.class_path
    assert classes(folder) == {"Monitored", "Unmonitored", "StartUp"}
    rewriting, compiling = found.building.commands
    assert [Path(command[0]).name for command in (rewriting, compiling)] == ["java", "javac"]
    sources = [word.partition("/program/")[2] for word in compiling if word.endswith(".java")]
    assert sorted(sources) == [f"rewritten/{MONITORED}.java"] + [
        f"sources/tracetax/generated/{name}.java" for name in ("StartUp", "Unmonitored")
    ]


def tried(equipment: Equipment, tmp_path: Path, use: Use) -> TrialRecord:
    folder = new_run(tmp_path / "run", experiment(*CONFIGURATIONS), *CONFIGURATIONS)
    return run_trial(plan(equipment, use), equipment, folder, lambda _: None)


def test_a_trial_runs_on_what_it_built_and_keeps_only_what_that_took(equipment: Equipment, tmp_path: Path) -> None:
    record = tried(equipment, tmp_path, Use("fake", "flat"))
    assert record.status == "ok", record.verdicts
    assert record.building and record.building.wall_ns > 0
    (class_path,) = (word for word in record.command if "/program/classes" in word)
    assert class_path.startswith("classes:")
    assert not (tmp_path / "run" / "trials" / "0001" / "program").exists()


def failure(equipment: Equipment, tmp_path: Path, use: Use) -> str:
    record = tried(equipment, tmp_path, use)
    assert (record.status, record.building, record.moments.spawned) == ("failed", None, 0)
    ((code, severity, text),) = ((one.code, one.severity, one.text) for one in record.verdicts)
    assert (code, severity) == ("build-failed", "error")
    return text


def test_a_build_that_fails_fails_the_trial_and_names_the_configuration_the_step_and_the_log(
    equipment: Equipment, tmp_path: Path
) -> None:
    text = failure(equipment, tmp_path, Use("fake", "weaves"))
    assert text.startswith('the program of fake weaves could not be built: "woven" ended with status 1\n')
    assert "Copier.java" in text
    assert text.endswith(f"whole log: {tmp_path}/run/logs/0001/building.txt")


def test_a_step_that_leaves_nothing_is_a_failure(equipment: Equipment, tmp_path: Path) -> None:
    idle = with_copier(equipment, tmp_path)
    source = tmp_path / "agents" / "fake" / "java" / "files" / "Copier.java"
    source.write_text("public final class Copier { public static void main(String[] a) {} }")
    assert '"woven" left nothing in' in failure(idle, tmp_path, Use("fake", "weaves"))


def test_a_build_that_hangs_is_ended_and_leaves_no_process(equipment: Equipment, tmp_path: Path) -> None:
    before = children()
    slow = replace(equipment, limits=replace(equipment.limits, build=0.05))
    assert "the compiler had not ended after 0 s and was ended" in failure(slow, tmp_path, BASELINE)
    assert not left_behind()
    assert children() <= before


def children() -> set[str]:
    """What this process has started, or taken over, and that is still there."""
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@pytest.mark.parametrize(
    ("change", "how"),
    [
        ({"copy": {".": "{workload.built}"}}, "copy"),
        ({"compile": Compilation("{workload.sources}", jar="a.jar")}, "compile into a jar"),
    ],
)
def test_a_folder_of_the_workload_that_no_build_can_repeat_is_told_before_the_first_trial(
    equipment: Equipment, change: dict[str, Any], how: str
) -> None:
    what = experiment(WEAVES)
    agents = equipment.agents | {"fake": replace(equipment.agents["fake"], prepare=(replace(WOVEN, **change),))}
    check_buildable(what, agents)  # where nothing is built in trials, it is no matter
    what = replace(what, parts=(replace(what.parts[0], parameters=PARAMETERS),))
    with pytest.raises(UserError, match=f'The folder "woven" of fake is made of the workload by {how}'):
        check_buildable(what, agents)
