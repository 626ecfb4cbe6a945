"""``./tracetax run``: from what was typed to a run folder, its findings, the table and the page."""

import random
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from tracetax.commands.capacity import new_search
from tracetax.commands.compare import gate, limit, slower_builds
from tracetax.commands.console import console as new_console
from tracetax.commands.ending import ending_in_order, tell_failed
from tracetax.commands.opening import (
    Command,
    ask_whether_busy,
    foreseen,
    new_run,
    refuse_changed_files,
    runtime_words,
    taken_up,
)
from tracetax.commands.report import conclude, exit_code, show
from tracetax.commands.request import Request, asked, refuse_blocks, refuse_fixed, scheduled
from tracetax.errors import ExitCode, UserError
from tracetax.machine.facts import Machine, machine_facts
from tracetax.machine.isolation import tool_stays_off
from tracetax.machine.lock import sole_run
from tracetax.model import Agent, Experiment
from tracetax.results.folder import RunFolder, resume_command
from tracetax.run import prepare
from tracetax.run.describe import estimate_words, part_words, plan_lines, search_lines
from tracetax.run.learning import learn
from tracetax.run.progress import TerminalProgress
from tracetax.run.session import Session
from tracetax.words import plural


def run_command(request: Request, root: Path, typed: tuple[str, ...]) -> int:
    """Measure what a request asks for, save and show it; returns the exit code."""
    console = new_console()
    command = Command(typed, root, console)
    by = limit(request.fail_if)
    if request.resume:
        return _resume(request, request.resume, command)
    wanted = asked(request, root)
    experiment, agents = wanted.experiment, wanted.agents
    seed = random.SystemRandom().randrange(1 << 32) if request.seed is None else request.seed
    _refuse_gate(by, agents)
    for note in wanted.notes:
        console.print(note, soft_wrap=True)
    if experiment.search:
        refuse_blocks(request)
    if experiment.search and not request.dry_run:
        return new_search(wanted, experiment.search, command, request.out)
    if request.dry_run:
        for note in foreseen(experiment, agents, root, request.out, wanted.backends):
            console.print(note, soft_wrap=True)
        _print_plan(experiment, agents, seed, command)
        return ExitCode.OK
    machine = machine_facts(Path.cwd())
    tag = f"{random.SystemRandom().getrandbits(16):04x}"
    path = request.out or RunFolder.new_path(Path("runs"), experiment.key, tag)
    with sole_run(), ending_in_order(console):
        ask_whether_busy(machine.isolation, console)
        equipment, folder = new_run(wanted, command, path, machine, seed=seed)
        return _measure(experiment, equipment, folder, machine, console, by)


def _resume(request: Request, path: Path, command: Command) -> int:
    root, console = command.root, command.console
    refuse_fixed(request)
    folder = RunFolder(path)
    manifest = folder.manifest
    if manifest.search is not None:
        raise UserError(f"{path} is a search. Go on with: {resume_command(path)}")
    experiment = scheduled(manifest.experiment, request)
    by = limit(request.fail_if)
    _refuse_gate(by, manifest.agents)
    if request.dry_run:
        refuse_changed_files(manifest, root)
        for note in foreseen(experiment, manifest.agents, root, None, manifest.backends):
            console.print(note, soft_wrap=True)
        _print_plan(experiment, manifest.agents, manifest.seed, command)
        return ExitCode.OK
    refuse_changed_files(manifest, root)
    machine = machine_facts(Path.cwd())
    with sole_run(), ending_in_order(console):
        ask_whether_busy(machine.isolation, console)
        equipment = taken_up(folder, experiment, command, machine)
        return _measure(experiment, equipment, folder, machine, console, by)


def _refuse_gate(by: float | None, agents: dict[str, Agent]) -> None:
    """Raise UserError where ``--fail-if`` asks about builds and none are compared."""
    if by is not None and not any(agent.builds for agent in agents.values()):
        raise UserError(
            "--fail-if asks which of two builds is slower: give both by --artifact AGENT.ARTIFACT=OLD,NEW.\n"
            "Two runs are compared by: ./tracetax compare RUN1 RUN2 --fail-if slower"
        )


def _measure(
    experiment: Experiment,
    equipment: prepare.Equipment,
    folder: RunFolder,
    machine: Machine,
    console: Console,
    by: float | None,
) -> int:
    if experiment.service and not any(record.block for record in folder.records()):
        experiment, equipment = _learned(experiment, equipment, folder, machine, console)
    _headline(experiment, equipment, folder, machine, console)
    with tool_stays_off(equipment.isolation), TerminalProgress(console) as progress:
        ended = Session(experiment, equipment, folder, progress).run()
    try:
        findings, page = conclude(folder)
    except KeyboardInterrupt:
        console.print(f"Interrupted; every trial is kept. Its findings: ./tracetax report {folder.path}")
        return ExitCode.INTERRUPTED
    measured = show(findings, console, page, folder.path)
    if not measured:
        return ExitCode.INTERRUPTED if ended.interrupted else exit_code(findings)
    if ended.interrupted:
        console.print(f"Interrupted. Go on with: ./tracetax run --resume {folder.path}", soft_wrap=True)
        return ExitCode.INTERRUPTED
    if ended.failed_trials:
        tell_failed(ended.failed_trials, folder, console)
        return ExitCode.FAILED
    status = exit_code(findings)
    return status if status or by is None else gate(slower_builds(findings.comparisons, by), by)


def _learned(
    experiment: Experiment, equipment: prepare.Equipment, folder: RunFolder, machine: Machine, console: Console
) -> tuple[Experiment, prepare.Equipment]:
    """Learn what single calls make, say it, and write it down. Raises UserError where nothing can be measured."""
    console.print("Counting the records of single requests, agent by agent.")
    with console.status("starting") as status:

        def say(sentence: str) -> None:
            console.print(sentence, soft_wrap=True, markup=False, highlight=False)

        learned = learn(experiment, equipment, folder, status.update, say)
    experiment, equipment = learned.experiment, replace(equipment, agents=learned.agents(equipment.agents))
    manifest = folder.manifest
    last = replace(manifest.invocations[-1], experiment=experiment)
    folder.write_manifest(
        replace(
            manifest,
            agents=learned.agents(manifest.agents),
            invocations=(*manifest.invocations[:-1], last),
            hashes=prepare.hashes(experiment, equipment, machine),
        )
    )
    return experiment, equipment


def _print_plan(experiment: Experiment, agents: dict[str, Agent], seed: int, command: Command) -> None:
    root = command.root
    if experiment.search:
        for line in search_lines(experiment, experiment.search):
            command.console.print(line, soft_wrap=True)
        return
    runtimes = {
        part.workload: prepare.program_of(replace(experiment, workload=part.workload or experiment.workload), root)[1]
        for part in experiment.parts
    }
    for line in plan_lines(experiment, agents, seed, next(iter(runtimes.values())), runtimes):
        command.console.print(line, soft_wrap=True)


def _headline(
    experiment: Experiment, equipment: prepare.Equipment, folder: RunFolder, machine: Machine, console: Console
) -> None:
    """What is about to be measured, on what, for how long, and where it goes."""
    console.print()
    console.print(Text.assemble((experiment.key, "bold"), f": {experiment.title}"), soft_wrap=True)
    facts = (machine.cpu, plural(machine.cores, "core"), f"{machine.memory_bytes / 2**30:.0f} GiB", machine.kernel)
    known = ", ".join(text for text in (*facts, *map(runtime_words, equipment.every)) if text)
    console.print(f"Machine   {known}     load {machine.load[0]:.1f}", soft_wrap=True)
    if equipment.isolation.workload:
        console.print(f"Cores     {equipment.isolation.words}", soft_wrap=True)
    for part in experiment.parts:
        names = ", ".join(str(use) for use in part.uses)
        console.print(f"Plan      {part.title}: {part_words(part)}: {names}; the baseline twice", soft_wrap=True)
    console.print(f"Run       {folder.path}     {estimate_words(experiment, folder.manifest.agents)}\n", soft_wrap=True)
