"""``./tracetax check-agent``: one slow trial of a configuration, and what it says about the agent's file."""

import os
import re
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from tracetax.analysis.agent_check import FileCheck, file_checks
from tracetax.artifacts import cache_dir, missing_pins
from tracetax.catalog import every_agent, fill
from tracetax.catalog.agent_file import Known, listed, unknown_agent
from tracetax.catalog.command_line import one_workload
from tracetax.catalog.own.artifacts import with_artifacts
from tracetax.catalog.reading import did_you_mean, raise_problems
from tracetax.catalog.settings import TypedSettings, completed, typed_settings
from tracetax.catalog.workload_file import load_workload
from tracetax.commands.console import console as new_console
from tracetax.commands.ending import ending_in_order
from tracetax.commands.opening import Command, new_run
from tracetax.commands.request import Asked, CheckRequest
from tracetax.errors import ExitCode, UserError
from tracetax.kinds import AnyParameters, declaration, declaration_of
from tracetax.kinds.functions import FunctionParameters
from tracetax.kinds.requests import Weighted
from tracetax.machine.facts import machine_facts
from tracetax.machine.lock import sole_run
from tracetax.model import (
    Agent,
    Delivery,
    Experiment,
    Part,
    Profile,
    Schedule,
    Settings,
    Use,
    kind_name,
    language_of,
)
from tracetax.program import Runtime, Workload
from tracetax.results.folder import RunFolder
from tracetax.results.records import Cell
from tracetax.run.plan import TrialPlan, Turn, heap_for
from tracetax.run.trial import run_trial
from tracetax.words import listed_words

COMPLAINT = re.compile(r"\b(WARN|WARNING|ERROR|SEVERE|FATAL)\b.*")
COMPLAINT_LENGTH = 200
MARKS = {"ok": ("✓", "green"), "failed": ("✗", "red"), "warning": ("⚠", "yellow"), "unknown": ("–", "dim")}


def pin_command(agent: str, root: Path, agents_dirs: tuple[Path, ...]) -> int:
    """Print the checksums that an agent's file lacks; nothing else on standard output."""
    agents = every_agent(root, agents_dirs)
    if agent not in agents.products:
        raise UserError(unknown_agent(agent, agents.of("")))
    several = len(agents.products[agent]) > 1
    lacking = False
    for single in agents.products[agent].values():
        pins = missing_pins(single, cache_dir(os.environ), lambda text: print(text, file=sys.stderr))
        lacking = lacking or bool(pins)
        if pins and several:
            print(f"# for {single.language}")
        for name, sha256 in pins.items():
            print(f'[artifacts.{name}]\nsha256 = "{sha256}"\n')
    told = "Compare them with what the project publishes before you paste them." if lacking else "Everything is pinned."
    print(told, file=sys.stderr)
    return ExitCode.OK


def check_command(request: CheckRequest, root: Path, typed: tuple[str, ...]) -> int:
    """Try a configuration in one slow trial and show what follows; exit code 1 where a check failed."""
    console = new_console()
    workload, runtime = load_workload(one_workload(request.workload), root)
    known = every_agent(root, request.agents_dirs).of(language_of(workload.key), kind_name(workload.key))
    agents: Mapping[str, Agent] = known.agents
    name = _configuration(known, request)
    parameters = _tried(request, workload)
    experiment = _experiment(Use(request.agent, name), workload, parameters, _settings(request, runtime))
    replaced = with_artifacts(experiment, agents, request.artifacts, most=1)
    experiment, agents = replaced.experiment, replaced.agents
    machine = machine_facts(Path.cwd())
    path = request.out or RunFolder.new_path(Path("runs"), experiment.key, os.urandom(2).hex())
    with sole_run(), ending_in_order(console):
        equipment, folder = new_run(Asked(experiment, agents), Command(typed, root, console), path, machine)
        (part,) = experiment.parts
        (use,) = part.uses
        config = equipment.configuration(use.agent, use.configuration)
        cell = Cell(part.name, use, heap_for(config, part))
        plan = TrialPlan(folder.next_number(), Turn(block=1, block_size=1, cell=cell), part, config, first=True)
        agent = equipment.agents[use.agent]
        words = f"{declaration_of(part.parameters).words(part.parameters)}: about 20 seconds"
        console.print(f"\n{agent.name} {agent.version}, {config.title} ({use.configuration}): {words}", soft_wrap=True)
        with console.status("starting") as status:
            record = run_trial(plan, equipment, folder, status.update)
    monitored = equipment.workload.monitored.placeholders
    named = replace(config, record_name=fill(config.record_name or "", monitored))
    logs = folder.path / "logs" / f"{record.number:04d}"
    results = file_checks(record, named, equipment.runtime, str(logs), last_complaint(logs), monitored)
    _show(results, console)
    if config.delivery in (Delivery.COMPLETE, Delivery.LOSSY) and workload.service is None:
        own = "".join(f" --agents-dir {place}" for place in request.agents_dirs)
        own += "".join(f" --artifact {given}" for given in request.artifacts)
        own += f" --workload {request.workload}" if request.workload else ""
        command = f"./tracetax run --agent {use.agent} --configuration {use.configuration}{own}"
        console.print(f"What it delivers at full speed is not tried here, but by: {command}", soft_wrap=True)
    console.print(f"Command line, environment and all counts: {folder.path}/trials/{record.number:04d}/record.json")
    return ExitCode.FAILED if any(check.state == "failed" for check in results) else ExitCode.OK


def _settings(request: CheckRequest, runtime: Runtime) -> Settings:
    """What the one trial is made with. Raises CatalogError with every problem."""
    typed = typed_settings(TypedSettings(settings=request.settings, jdk=str(request.jdk) if request.jdk else None))
    levels = completed(typed.read(runtime), runtime, typed=True)
    for name, values in levels.items():
        if len(values) > 1:
            typed.report.add(typed.texts[name][0], "names several values, and one trial is made")
    raise_problems(typed.report)
    return {name: values[0] for name, values in levels.items()}


def _tried(request: CheckRequest, workload: Workload) -> AnyParameters:
    """What the one trial calls. Raises UserError where a function or a host was typed that is not there."""
    offers = workload.offers
    parameters = declaration(kind_name(workload.key)).parameters_to_check(offers)
    for key, typed, known in (("function", request.function, offers.endpoints), ("host", request.host, offers.hosts)):
        if typed is None:
            continue
        if not isinstance(parameters, FunctionParameters):
            raise UserError(f"--{key} goes with --workload functions/…, and {workload.key} has none.")
        if typed not in known:
            raise UserError(f"--{key} {typed}: {workload.key} has {listed_words(known)}{did_you_mean(typed, known)}")
        changed = {"mix": (Weighted(typed, 1),)} if key == "function" else {"host": typed}
        parameters = replace(parameters, **changed)
    return parameters


def _experiment(use: Use, workload: Workload, parameters: AnyParameters, settings: Settings) -> Experiment:
    part = Part(
        name="check",
        title=f"{use}, slowly",
        parameters=parameters,
        uses=(use,),
        settings=settings,
    )
    return Experiment(
        key=f"check-{use.agent}",
        title=f"FileCheck of {use}",
        workload=workload.key,
        parts=(part,),
        schedule=Schedule(memory=False),
        result=False,
    )


def _configuration(known: Known, request: CheckRequest) -> str:
    """The configuration that was named, or the stock one, or the first that promises records."""
    agent = known.agents.get(request.agent)
    if agent is None:
        raise UserError(unknown_agent(request.agent, known))
    if request.configuration is not None:
        if request.configuration not in agent.configurations:
            hint = did_you_mean(request.configuration, agent.configurations)
            names = listed(f"configurations {agent.key}", [agent])
            raise UserError(f'"{request.configuration}" is no configuration of {agent.key}{hint}   {names}')
        return request.configuration
    every = agent.configurations.values()
    stock = [config.name for config in every if config.profile is Profile.STOCK]
    promising = [config.name for config in every if config.delivery is not Delivery.NONE]
    return next(iter((*stock, *promising, *agent.configurations)))


def last_complaint(logs: Path) -> str:
    """The last line in a trial's logs by which a logger warns of something, without the digits and words before it."""
    last = ""
    for file in sorted(logs.glob("std*.txt")):
        with file.open(errors="replace") as lines:
            for line in lines:
                complaint = COMPLAINT.search(line)
                last = complaint[0].rstrip()[:COMPLAINT_LENGTH] if complaint else last
    return last


def _show(results: list[FileCheck], console: Console) -> None:
    console.print()
    for check in results:
        mark, style = MARKS[check.state]
        body = textwrap.wrap(check.text, max(20, console.width - 14)) or [""]
        console.print(Text.assemble((mark, style), " ", (f"{check.name:<10}", "bold"), body[0]), highlight=False)
        for line in body[1:]:
            console.print(" " * 12 + line, highlight=False, soft_wrap=True)
        if check.hint and check.state != "ok":
            for line in textwrap.wrap(f"→ {check.hint}", max(20, console.width - 14), subsequent_indent="  "):
                console.print(Text(" " * 12 + line, "dim"), highlight=False, soft_wrap=True)
    console.print()
