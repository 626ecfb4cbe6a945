"""What options of the command line ask for, without a file: an experiment, a search, a schedule.

What was typed is in frozen dataclasses, whose fields are called as their options; None is one that was not given.
``--help`` shows the text beside each field. Quantities are text with units, as in a file, and have the same bounds.
Every problem is named by its option.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from tracetax.catalog.agent_file import configured, listed, stock_of, unknown_agent
from tracetax.catalog.experiment_shape import SECONDS_OF_SERVICE, Blocks, NarrowEnough, combinations, too_long
from tracetax.catalog.kinds import TypedParameters, kind_of_file
from tracetax.catalog.own.service import TypedService, objective_of
from tracetax.catalog.reading import COMMAND_LINE, Report, did_you_mean, raise_problems, read_one
from tracetax.catalog.settings import Said, TypedSettings, completed, option, typed_settings
from tracetax.catalog.units import CallRate, CpuUse, Duration, HalfWidth
from tracetax.catalog.uses import searched_title
from tracetax.catalog.workload_file import Lack, MeasuredProgram, left_out
from tracetax.errors import UserError
from tracetax.kinds import KINDS, declaration_of
from tracetax.model import (
    BASELINE,
    FULL,
    Agent,
    Delivery,
    Experiment,
    Part,
    Schedule,
    Search,
    Use,
)
from tracetax.words import listed_words

WORKLOAD = "calltree/java"
"""Measured where neither ``--workload`` is given nor an experiment."""
ENOUGH_BLOCKS = 10
MANY_BLOCKS = 100
"""What ``--half-width`` alone asks for: at least so many blocks that it is a result, and room to get there."""
SEARCH_BUDGET = "20min"
SHORTEST_NS = 10**9
"""In less time, a hiccup of the machine decides whether a rate was made."""
Further: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
PROMISED = (Delivery.COMPLETE, Delivery.LOSSY)
"""Deliveries that promise records one by one: there is a highest rate at which every one arrives."""


@dataclass(frozen=True, kw_only=True)
class TypedCalls:
    """What is called how often, of which agents."""

    agent: str | None = option(
        None,
        "Without an experiment: agents to measure as they are shipped, separated by commas.",
    )
    configuration: str | None = option(
        None,
        "With --agent: these configurations of theirs instead, separated by commas.",
    )
    rate: str | None = option(
        None,
        "Without an experiment: calls per second, such as 1000/s, or full (back to back). Default: full, and 100/s of "
        "requests to a service.",
    )
    calls: int | None = option(None, "Without an experiment: measured calls, or requests, per trial.")
    workload: str | None = option(
        None,
        "Without an experiment: the program under test, such as calltree/python, a folder in workloads/. Its language "
        "says which agents and settings there are. Several, with commas between, are measured beside each other. "
        f"Default: {WORKLOAD}.",
    )


@dataclass(frozen=True, kw_only=True)
class TypedExperiment(TypedSettings, TypedParameters, TypedService, TypedCalls):
    """All that makes an experiment without a file. Fields of the last base come first in ``--help``."""


@dataclass(frozen=True, kw_only=True)
class TypedSearched:
    """Whose highest rate is searched for, and what is called."""

    agent: str | None = option(None, "Agents, separated by commas.")
    configuration: str | None = option(
        None,
        "Configurations of theirs, separated by commas. Default: those of profile stock that deliver records.",
    )
    workload: str | None = option(
        None,
        "The program under test, such as calltree/python, a folder in workloads/. Its language says which agents and "
        f"settings there are. Default: {WORKLOAD}.",
    )


@dataclass(frozen=True, kw_only=True)
class TypedSearch(TypedSettings, TypedParameters, TypedService, TypedSearched):
    """All that makes a search. Fields of the last base come first in ``--help``."""

    usage: str | None = option(
        None,
        "Of a service: the rate is searched for at which its processes use so much CPU, such as '75 % of 1 core', "
        "without an agent and with each.",
    )
    seconds: str | None = option(None, "How long a trial calls, such as 10s. Default: 5s, with --slo or --usage 10s.")
    lowest: str | None = option(None, "The lowest rate that is tried, in calls per second. Default: 10/s.")
    further: int | None = option(
        None,
        "Trials at each of the two rates of the answer, beyond the one that found it. Default: 6.",
    )
    budget: str | None = option(
        None,
        "Begin no trial that is not expected to end within this time; each configuration gets an equal share of "
        "what is left. Default: 20min.",
    )


def typed_workloads(typed: TypedCalls) -> list[tuple[str, str]]:
    """The workloads that were typed, or else the default, each with the option by which it stands in a message."""
    names = _names(typed.workload) or (WORKLOAD,)
    return [(f"--workload {name}" if len(names) > 1 else "--workload", name) for name in names]


def one_workload(typed: str | None) -> str:
    """The workload that was typed where one is measured at a time, or else the default. Raises UserError."""
    if typed and "," in typed:
        raise UserError(f'--workload: "{typed}" names several, and one is measured at a time here: name one of them')
    return typed or WORKLOAD


def adhoc_experiment(programs: Sequence[MeasuredProgram], typed: TypedExperiment) -> Experiment:
    """Measure the named configurations of agents, or else each one's stock ones that deliver records.

    Each of ``programs``, and each combination of levels of its runtime's settings, makes a part. What is called how
    often, and what holds where an option is not given, is for the kind of the programs to say. Raises CatalogError with
    every problem.
    """
    report = Report(COMMAND_LINE)
    lacks: list[Lack] = []
    uses = [_typed_uses(typed, program, lacks, report) for program in programs]
    lacking = left_out(lacks, programs, report)
    said = _typed_parameters(typed, typed.rate, typed.calls, programs[0], report)
    settings = [_levels(typed, program, programs, report) for program in programs]
    kind = kind_of_file(programs[0].key)
    speed = ""
    if not report.problems:
        parameters = kind.parameters_of({key: level for key, (level,) in said.items()})
        speed = declaration_of(parameters).speed(parameters)
        if text := too_long(parameters):
            report.add("--rate" if typed.calls is None else "--calls", text)
    raise_problems(report)
    parts = tuple(
        Part(
            name=f"adhoc{level.suffix}",
            title=f"{speed[0].upper()}{speed[1:]}{level.title_suffix}",
            parameters=level.parameters,
            uses=own,
            settings=level.settings,
            levels=level.levels,
            workload=program.key if program.level else "",
        )
        for program, own, levels in zip(programs, uses, settings, strict=True)
        if own
        for level in combinations(said, levels, program)
    )
    return Experiment(
        key="adhoc",
        title=f"What tracing costs {kind.typed_title(said)}",
        workload=", ".join(program.key for program in programs),
        parts=parts,
        schedule=Schedule(),
        left_out=lacking,
    )


def searched_experiment(program: MeasuredProgram, typed: TypedSearch) -> tuple[Experiment, Search]:
    """A part for each configuration, and how to search. Raises CatalogError with every problem.

    Without ``--configuration`` each agent's stock ones are searched.
    """
    report = Report(COMMAND_LINE)
    known = program.known
    lacks: list[Lack] = []
    uses = _typed_uses(typed, program, lacks, report)
    left_out(lacks, (program,), report)
    agents = known.agents
    search = _read_search(typed, report)
    if search.of_service:
        uses = (BASELINE, *uses)
        if kind_of_file(program.key).DRIVES:
            report.add("--usage" if search.usage else "--slo", f"is about a service, and {program.key} is none")
        if search.objective and search.usage:
            report.add("--usage", "and --slo exclude each other: each says what is searched for")
    else:
        for use in uses:
            _check_promised(use, agents[use.agent], report)
    parameters = _typed_parameters(typed, FULL, None, program, report)
    settings = _levels(typed, program, (program,), report)
    budget_ns: int = read_one(SEARCH_BUDGET if typed.budget is None else typed.budget, Duration, "--budget", report)
    raise_problems(report)
    parts = tuple(
        Part(
            name=f"{use.agent}-{use.configuration}{level.suffix}".replace(":", "-"),
            title=searched_title(use, agents) + level.title_suffix,
            parameters=level.parameters,
            uses=(use,),
            settings=level.settings,
            levels=level.levels,
        )
        for use in uses
        for level in combinations(parameters, settings, program)
    )
    words = search.words
    experiment = Experiment(
        key="capacity",
        title=words[0].upper() + words[1:],
        workload=program.key,
        parts=parts,
        schedule=Schedule(budget_ns=budget_ns, memory=False),
    )
    return experiment, search


def rescheduled(
    schedule: Schedule, *, blocks: int | None = None, half_width: str | None = None, budget: str | None = None
) -> Schedule:
    """A schedule changed by ``--blocks``, ``--half-width`` and ``--budget``; None where one was not given.

    ``blocks`` means exactly so many. ``half_width`` replaces both bounds, so that what is not named in it no longer
    lets a run stop, and without ``blocks`` it makes room for blocks. Raises CatalogError with every problem, named by
    its option.
    """
    report = Report(COMMAND_LINE)
    if blocks is not None and read_one(blocks, Blocks, "--blocks", report) is not None:
        schedule = replace(schedule, min_blocks=blocks, max_blocks=blocks)
    if half_width is not None:
        width = read_one(half_width, NarrowEnough, "--half-width", report) or HalfWidth(None, None)
        schedule = replace(schedule, half_width_ratio=width.ratio or 0.0, half_width_ns=width.time_ns or 0.0)
        if blocks is None:
            schedule = replace(
                schedule,
                min_blocks=max(ENOUGH_BLOCKS, schedule.min_blocks),
                max_blocks=max(MANY_BLOCKS, schedule.max_blocks),
            )
    if budget is not None:
        schedule = replace(schedule, budget_ns=read_one(budget, Duration, "--budget", report) or 0)
    raise_problems(report)
    return schedule


def _typed_parameters(
    typed: TypedParameters, rate: str | None, calls: int | None, program: MeasuredProgram, report: Report
) -> Said:
    """What is called how often; options of another kind of workload are reported."""
    kind = kind_of_file(program.key)
    others = {name for each in KINDS for name in kind_of_file(each).OPTIONS} - set(kind.OPTIONS)
    own = listed_words([f"--{name}" for name in kind.OPTIONS])
    for name in sorted(others):
        if getattr(typed, name) is not None:
            report.add(f"--{name}", f"says nothing of {program.key}: {own} do")
    return kind.typed_parameters(typed, rate, calls, program.offers, report)


def _typed_uses(
    typed: TypedCalls | TypedSearched, program: MeasuredProgram, lacks: list[Lack], report: Report
) -> tuple[Use, ...]:
    """The configurations that were named, of every agent that has one of them; without names, the stock ones.

    What a program's language does not have is appended to ``lacks``.
    """
    keys, names = _names(typed.agent), _names(typed.configuration)
    known = program.known
    if keys is None:
        report.add("--agent", f"names no agent   {listed('agents', known.agents.values())}")
    agents: list[Agent] = []
    for key in keys or ():
        if key not in known.agents:
            lacks.append(Lack("--agent", key, unknown_agent(key, known), program.key))
        elif not _is_baseline(known.agents[key], names, report):
            agents.append(known.agents[key])
    found = _stock(agents) if names is None else _named(agents, names, several=bool(program.level))
    lacks += [Lack(option, what, text, program.key) for option, what, text in found.lacks]
    return tuple(found.uses)


def _is_baseline(agent: Agent, names: Sequence[str] | None, report: Report) -> bool:
    """Whether the baseline is asked for, which is reported."""
    if agent.key != BASELINE.agent or not (names is None or BASELINE.configuration in names):
        return False
    others = ", ".join(name for name in agent.configurations if name != BASELINE.configuration)
    hint = f"; its other forms can be named: {others}   (--configuration)" if others else ""
    text = f'"{agent.key}" is the baseline: it delivers no records, and is in every block without being named{hint}'
    report.add("--agent", text)
    return True


class _Found(Struct):
    """The configurations of a program's agents, and what these do not have: option, what it is, and the problem."""

    uses: dict[Use, None] = {}
    lacks: list[tuple[str, str, str]] = []


def _stock(agents: list[Agent]) -> _Found:
    """The configurations of profile stock that deliver records."""
    found = _Found()
    for agent in agents:
        stock = [Use(agent.key, name) for name in stock_of(agent)]
        if not stock:
            text = f"{agent.key} has no stock configuration that delivers records; name one by --configuration"
            found.lacks.append(("--agent", f"{agent.key} as shipped", text))
        found.uses |= dict.fromkeys(stock)
    return found


def _named(agents: list[Agent], names: Sequence[str], *, several: bool) -> _Found:
    """Those with one of the names; ``several``: other programs may have agents where this one has none."""
    found = _Found()
    for name in names:
        having = [
            use
            for agent in agents
            if (use := Use(agent.key, configured(agent, name))).configuration in agent.configurations
        ]
        if not having and (agents or several):
            hint = did_you_mean(name, [known for agent in agents for known in agent.configurations])
            owners = ", ".join(agent.key for agent in agents)
            text = f'"{name}" is no configuration of {owners}{hint}' if agents else ""
            found.lacks.append(("--configuration", f"configuration {name}", text))
        found.uses |= dict.fromkeys(having)
    return found


def _check_promised(use: Use, agent: Agent, report: Report) -> None:
    """Report a configuration of which no rate can be told at which every record arrives."""
    delivery = agent.configurations[use.configuration].delivery
    if delivery in PROMISED:
        return
    promising = [config.name for config in agent.configurations.values() if config.delivery in PROMISED]
    others = [name for name in promising if ":" not in name]
    hint = f". Of {use.agent}'s, {', '.join(others)} do   (--configuration)" if others else ""
    text = f"{use} promises no record one by one ({delivery}): there is no rate to search for{hint}"
    report.add("--configuration", text)


def _levels(
    typed: TypedSettings, program: MeasuredProgram, programs: Sequence[MeasuredProgram], report: Report
) -> Said:
    """The levels of the settings of one of the programs; every problem goes to ``report``."""
    asked = typed_settings(typed)
    runtime = program.runtime
    assert runtime
    beside = [other.runtime for other in programs if other.runtime]
    levels = completed(asked.read(runtime, beside), runtime, typed=True)
    for problem in asked.report.problems:
        report.add(problem.key, problem.text)
    return levels


def _read_search(typed: TypedSearch, report: Report) -> Search:
    """How to search; every problem goes to ``report``."""
    from tracetax.statistics.threshold import three_digits  # loads SciPy, for which nothing else here should wait

    otherwise = Search()
    length_ns: int | None = None if typed.seconds is None else read_one(typed.seconds, Duration, "--seconds", report)
    if length_ns is not None and length_ns < SHORTEST_NS:
        report.add("--seconds", f'"{typed.seconds}" says too little about a rate: a trial calls for a second at least')
    lowest = otherwise.lowest if typed.lowest is None else read_one(typed.lowest, CallRate, "--lowest", report)
    if lowest == FULL:
        report.add("--lowest", '"full" is tried in any case: write for example "10/s"')
    return Search(
        seconds=length_ns / 1e9 if length_ns else SECONDS_OF_SERVICE if typed.slo or typed.usage else otherwise.seconds,
        usage=read_one(typed.usage, CpuUse, "--usage", report) if typed.usage is not None else None,
        objective=objective_of(typed.slo, report) if typed.slo is not None else None,
        lowest=otherwise.lowest if lowest in (None, FULL) else three_digits(float(lowest)),
        resolution=otherwise.resolution,
        further=otherwise.further if typed.further is None else read_one(typed.further, Further, "--further", report),
    )


def _names(text: str | None) -> tuple[str, ...] | None:
    """What was typed with commas between; None where nothing was."""
    return None if text is None else tuple(name.strip() for name in text.split(","))
