"""Builds the program of a trial from its sources, as a project would: compiled, and woven by its agent's own steps.

A step of ``[[prepare]]`` belongs to the build where it is made of the workload; it gets the generated program instead.
"""

import os
import time
from pathlib import Path

from msgspec import Struct

from tracetax.artifacts.compiling import compile_command, program_sources
from tracetax.artifacts.prepared import program_command
from tracetax.artifacts.start_up import write_sources
from tracetax.catalog.placeholders import (
    ARTIFACT,
    FILES,
    OUT,
    PREPARED,
    WORKLOAD_SOURCES,
    fill,
    made_of_program,
    names_in,
    references,
    texts_of,
)
from tracetax.errors import ExitCode, UserError
from tracetax.machine import disturbance
from tracetax.model import WORKLOAD_BUILT, Agent, Experiment
from tracetax.process import Process, clean_environment
from tracetax.results.records import Building
from tracetax.run.equipment import Equipment
from tracetax.run.plan import TrialPlan
from tracetax.run.supplies import measured
from tracetax.workloads.driver import WorkloadFailed

LOG = "building.txt"
POLL_SECONDS = 0.001
"""How exactly the end of a process is known."""


class Built(Struct, frozen=True):
    """A program that was built in a trial."""

    class_path: tuple[Path, ...]
    """Woven classes before those that were compiled."""
    building: Building
    load: disturbance.Load
    """What else the machine did during the build."""


def check_buildable(experiment: Experiment, agents: dict[str, Agent]) -> None:
    """Raise UserError where a measured agent makes a folder of the workload in a way that no trial can repeat."""
    if not any(part.parameters.start_up_built for part in experiment.parts):
        return
    for agent in agents.values():
        for step in made_of_program(references(agent, measured(experiment, agent)).steps):
            other = list(step.made_once)
            other += ["compile into a jar"] if step.compile and step.compile.jar else []
            if other:
                raise UserError(
                    "With start_up_built, every trial weaves its program anew, by what a step compiles or runs. "
                    f'The folder "{step.name}" of {agent.key} is made of the workload by {other[0]} too.',
                    ExitCode.ENVIRONMENT,
                )


def build_program(plan: TrialPlan, equipment: Equipment, folder: Path, logs: Path) -> Built:
    """Build the program of a trial in the new ``folder``.

    Where a step needs its classes, or none compiles, all of it is compiled first; else it is compiled together with
    what the step puts in the place of some sources. Raises WorkloadFailed: ``build-failed``.
    """
    parameters, use = plan.part.parameters, plan.use
    sources, classes = folder / "sources", folder / "classes"
    start_up = equipment.workload.start_up
    assert start_up  # an experiment that asks for it has been refused otherwise
    write_sources(start_up, parameters.start_up_methods, parameters.start_up_monitored, sources)
    steps = made_of_program(references(equipment.agents[use.agent], [plan.config]).steps)
    values = {
        **start_up.monitored.placeholders,
        **{f"{ARTIFACT}{name}": str(path) for name, path in equipment.files(use).items()},
        **{f"{PREPARED}{name}": str(path) for name, path in equipment.folders(use).items()},
        **{f"{PREPARED}{step.name}": str(folder / step.name) for step in steps},
        FILES: str(equipment.agent_folder(use.agent) / "files"),
        WORKLOAD_BUILT: str(classes),
        WORKLOAD_SOURCES: str(sources),
    }
    tools = _Tools(plan, equipment, folder, logs)
    from_classes = any(WORKLOAD_BUILT in names_in(text) for step in steps for text in texts_of(step))
    left = program_sources(sources)
    if from_classes or not any(step.compile for step in steps):
        tools.run("the compiler", compile_command(_files(left), classes, class_path=""), classes)
        left = {}
    for step in steps:
        out = folder / step.name
        if step.compile:
            files = _files(left | program_sources(Path(fill(step.compile.sources, values))))
            class_path = ":".join(fill(entry, values) for entry in step.compile.class_path)
            command = compile_command(files, out, class_path=class_path, release=step.compile.release)
            tools.run(f'the compiler of "{step.name}"', command, out)
            left = {}
        if step.run:
            tools.run(f'"{step.name}"', program_command(step.run, values | {OUT: str(out)}), out)
    made = {f"{PREPARED}{step.name}" for step in steps}
    woven = [fill(entry, values) for entry in plan.config.search_path if made.intersection(names_in(entry))]
    compiled = [classes] if classes.is_dir() else []
    return Built(class_path=(*map(Path, woven), *compiled), building=tools.spent, load=tools.load)


def _files(sources: dict[Path, Path]) -> list[str]:
    return [str(path) for path in sources.values()]


class _Tools:
    """Runs the processes of a build one after the other, on the workload's cores, and adds up what they took."""

    def __init__(self, plan: TrialPlan, equipment: Equipment, folder: Path, logs: Path) -> None:
        self._label = plan.cell.label
        self._limit = equipment.limits.build
        self._isolation = equipment.isolation
        self._folder = folder
        self._log = logs / LOG
        self._begun = disturbance.machine_cpu(self._isolation.watched), time.process_time_ns()
        self.spent = Building(wall_ns=0, cpu_ns=0, commands=())

    def run(self, what: str, command: list[str], out: Path) -> None:
        """Run a process that leaves something in ``out``. Raises WorkloadFailed where it does not."""
        place = self._folder / f"at-{len(self.spent.commands)}"  # where it may leave what belongs to nothing
        for path in (place, out):
            path.mkdir(exist_ok=True)
        with Process(
            command,
            environment=clean_environment(os.environ, {}),
            stdout=self._log,
            stderr=self._log,
            directory=place,
            cores=self._isolation.workload,
        ) as process:
            process.close_input()
            ending = process.wait(self._limit, interval=POLL_SECONDS)
        if ending is None:
            raise self._failed(what, f"had not ended after {self._limit:,.0f} s and was ended")
        if ending.status:
            raise self._failed(what, ending.description)
        if not any(path.is_file() for path in out.rglob("*")):
            raise self._failed(what, f"left nothing in {out}")
        self.spent = Building(
            wall_ns=self.spent.wall_ns + ending.ended_ns - process.started_ns,
            cpu_ns=self.spent.cpu_ns + ending.cpu_ns,
            commands=(*self.spent.commands, process.command),
        )

    @property
    def load(self) -> disturbance.Load:
        """What else the machine did since the first process was started."""
        machine, tool = self._begun
        own = self.spent.cpu_ns + time.process_time_ns() - tool
        now = disturbance.machine_cpu(self._isolation.watched)
        return disturbance.between(machine, now, own, self._isolation.share)

    def _failed(self, what: str, how: str) -> WorkloadFailed:
        return WorkloadFailed("build-failed", f"the program of {self._label} could not be built: {what} {how}")
