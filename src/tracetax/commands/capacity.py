"""``./tracetax capacity``: up to which rate configurations deliver every record."""

import dataclasses
import os
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from tracetax.analysis.capacity import build_capacity
from tracetax.catalog import every_agent, rescheduled
from tracetax.catalog.command_line import one_workload, searched_experiment
from tracetax.catalog.own.artifacts import with_artifacts
from tracetax.catalog.own.service import mix_to_type, program_of_service, with_nothing_learned
from tracetax.catalog.workload_file import MeasuredProgram, load_workload
from tracetax.commands.console import console as new_console
from tracetax.commands.ending import ending_in_order, tell_failed
from tracetax.commands.opening import Command, new_run, refuse_changed_files, taken_up
from tracetax.commands.request import NO_CAPACITY_REQUEST, Asked, CapacityRequest, service_tried
from tracetax.errors import ExitCode, UserError
from tracetax.machine.facts import machine_facts
from tracetax.machine.isolation import tool_stays_off
from tracetax.machine.lock import sole_run
from tracetax.model import Search, kind_name, language_of
from tracetax.report.capacity import render_capacity
from tracetax.results.capacity import write_capacity
from tracetax.results.folder import RunFolder, resume_command
from tracetax.run.capacity import CapacitySearch
from tracetax.run.equipment import Equipment
from tracetax.run.progress import TerminalProgress
from tracetax.service import OwnService


def capacity_command(request: CapacityRequest, root: Path, typed: tuple[str, ...]) -> int:
    """Search for the highest rates, save and show them; returns the exit code."""
    console = new_console()
    command = Command(typed, root, console)
    if request.resume:
        return _resume(request, request.resume, command)
    if request.agent is None:
        raise UserError("--agent says whose rate is searched for: ./tracetax capacity --agent opentelemetry,kieker")
    service: OwnService | None = None
    agents = every_agent(root, request.agents_dirs)
    if request.service is not None:
        if request.slo is None and request.usage is None:
            raise UserError(
                "--service goes with --slo here, such as 'p99 < 50 ms': up to which rate does it hold?\n"
                "Or with --usage '75 % of 1 core': at which rate does it use so much CPU?"
            )
        if request.load is not None:
            raise UserError("--load goes with run: a search chooses the rates, and its trials end where it says.")
        if request.each_instrumentation:
            raise UserError("--each-instrumentation goes with run: it compares what a request costs, in blocks.")
        service, sentences = service_tried(request, root)
        for sentence in sentences:
            console.print(sentence, soft_wrap=True)
        program = program_of_service(service, agents, root)
        request = dataclasses.replace(request, endpoint=request.endpoint or mix_to_type(service))
    else:
        workload, runtime = load_workload(one_workload(request.workload), root)
        known = agents.of(language_of(workload.key), kind_name(workload.key))
        program = MeasuredProgram(workload.key, runtime, known, offers=workload.offers)
    experiment, search = searched_experiment(program, request)
    found = program.known.agents
    if service:
        experiment = replace(experiment, service=service, parts=with_nothing_learned(experiment.parts))
    replaced = with_artifacts(experiment, found, request.artifacts, most=1)
    return new_search(Asked(replaced.experiment, replaced.agents), search, command, request.out)


def new_search(asked: Asked, search: Search, command: Command, out: Path | None) -> int:
    """Search for the rates of an experiment's parts in a new folder, ``out`` or one in ``runs/``; the exit code."""
    machine = machine_facts(Path.cwd())
    path = out or RunFolder.new_path(Path("runs"), asked.experiment.key, os.urandom(2).hex())
    with sole_run(), ending_in_order(command.console):
        equipment, folder = new_run(asked, command, path, machine, search=search)
        return _search(equipment, folder, command.console)


def _resume(request: CapacityRequest, path: Path, command: Command) -> int:
    if dataclasses.replace(request, resume=None, budget=None) != NO_CAPACITY_REQUEST:
        raise UserError("A search goes on as it began; with --resume only --budget may be given.")
    folder = RunFolder(path)
    manifest = folder.manifest
    if manifest.search is None:
        raise UserError(f"{path} is no search. Go on with: {resume_command(path)}")
    experiment = manifest.experiment
    experiment = replace(experiment, schedule=rescheduled(experiment.schedule, budget=request.budget))
    refuse_changed_files(manifest, command.root)
    machine = machine_facts(Path.cwd())
    with sole_run(), ending_in_order(command.console):
        equipment = taken_up(folder, experiment, command, machine)
        return _search(equipment, folder, command.console)


def _search(equipment: Equipment, folder: RunFolder, console: Console) -> int:
    manifest = folder.manifest
    assert manifest.search is not None
    experiment = manifest.experiment
    console.print(f"Run       {folder.path}", soft_wrap=True)
    with tool_stays_off(equipment.isolation), TerminalProgress(console) as progress:
        search = CapacitySearch(
            experiment.parts,
            manifest.search,
            experiment.schedule.budget_ns / 1e9,
            equipment,
            folder,
            progress,
            concluded=lambda: _write(folder),
        )
        interrupted = search.run()
    capacity = build_capacity(folder)
    path = write_capacity(folder.path, capacity)
    render_capacity(capacity, console)
    console.print(f"\nTrials and numbers: {path}", soft_wrap=True)
    outcomes = {configuration.outcome for configuration in capacity.configurations}
    last = replace(manifest.invocations[-1], ended="interrupted" if interrupted else "settled")
    if "unfinished" in outcomes and not interrupted:
        last = replace(last, ended="budget")
    folder.write_manifest(replace(manifest, invocations=(*manifest.invocations[:-1], last)))
    if "unfinished" in outcomes:
        console.print(f"Go on with: {resume_command(folder.path)}", soft_wrap=True)
    if interrupted:
        return ExitCode.INTERRUPTED
    if search.failed_trials:
        tell_failed(search.failed_trials, folder, console)
    return ExitCode.FAILED if search.failed_trials or "failed" in outcomes else ExitCode.OK


def _write(folder: RunFolder) -> None:
    write_capacity(folder.path, build_capacity(folder))
