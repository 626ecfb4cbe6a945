"""What options of the command line ask for, without a file: an experiment, a search, JVM settings, a schedule.

Quantities are text with units, as in a file, and have the same bounds. Every problem is named by its option.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta
from msgspec.structs import asdict, replace

from tracetax.catalog.agent_file import Known, configured, listed, unknown_agent
from tracetax.catalog.experiment_shape import (
    Blocks,
    CallRate,
    Calls,
    Depth,
    JvmShape,
    NarrowEnough,
    Threads,
    combinations,
    overridden,
    too_long,
)
from tracetax.catalog.reading import COMMAND_LINE, Report, did_you_mean, raise_problems, read, read_one
from tracetax.catalog.units import Duration, HalfWidth
from tracetax.model import (
    BASELINE,
    FULL,
    Agent,
    Delivery,
    Experiment,
    Parameters,
    Part,
    Profile,
    Rate,
    Schedule,
    Search,
    Use,
)

WORKLOAD = "calltree/java"
DEPTH = 10
HEAP = 1 << 30
"""Bytes, where ``--heap`` is not given and no experiment's file says it."""
CALLS_AT_FULL_SPEED = 200_000
"""Calls of a trial at full speed, with which every search begins too."""
SECONDS_AT_A_RATE = 3
"""Length of a trial at a rate where ``--calls`` is not given."""
ENOUGH_BLOCKS = 10
MANY_BLOCKS = 100
"""What ``--half-width`` alone asks for: at least so many blocks that it is a result, and room to get there."""
SEARCH_BUDGET = "20min"
SHORTEST_NS = 10**9
"""In less time, a hiccup of the machine decides whether a rate was made."""
Further: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
PROMISED = (Delivery.COMPLETE, Delivery.LOSSY)
"""Deliveries that promise records one by one: there is a highest rate at which every one arrives."""


def adhoc_experiment(
    agents: Mapping[str, Agent],
    agent_keys: Sequence[str],
    configurations: Sequence[str] | None = None,
    *,
    rate: str | None = None,
    depth: int | None = None,
    calls: int | None = None,
    threads: int | None = None,
    jdk: str | None = None,
    collector: str | None = None,
    heap: str | None = None,
    schedule: Schedule | None = None,
) -> Experiment:
    """Measure the named configurations of agents, or else each one's stock ones that deliver records.

    Quantities are text with units, as in a file, and have the same bounds; None is an option that was not given.
    ``jdk``, ``collector`` and ``heap`` may be lists with commas between, which make a part of each combination.
    Without ``calls``, a trial at a rate lasts three seconds, and one at full speed makes 200,000 calls. Raises
    CatalogError with every problem, named by its option.
    """
    report = Report(COMMAND_LINE)
    known = Known(agents)
    uses = _typed_uses(agent_keys, configurations, known, report)
    per_second: Rate = read_one(FULL if rate is None else rate, CallRate, "--rate", report) or FULL
    said_calls = calls
    if calls is None:
        calls = CALLS_AT_FULL_SPEED if per_second == FULL else max(1, round(SECONDS_AT_A_RATE * per_second))
    parameters = Parameters(
        calls=read_one(calls, Calls, "--calls", report),
        depth=read_one(DEPTH if depth is None else depth, Depth, "--depth", report),
        rate=per_second,
        threads=read_one(1 if threads is None else threads, Threads, "--threads", report),
    )
    jvm = _read_jvm({"jdk": jdk, "collector": collector, "heap": heap}, report)
    if not report.problems and parameters.threads > parameters.calls:
        report.add("--threads", f"is more than the {parameters.calls:,} calls: a thread would have nothing to call")
    if not report.problems and (text := too_long(parameters)):
        report.add("--rate" if said_calls is None else "--calls", text)
    raise_problems(report)
    speed = "at full speed" if per_second == FULL else f"at {per_second:,g} calls/s"
    title = f"{speed[0].upper()}{speed[1:]}"
    said = {key: (value,) for key, value in asdict(parameters).items() if key != "method_time_ns"}
    parts = tuple(
        Part(f"adhoc{found.suffix}", f"{title}{found.title_suffix}", found.parameters, uses, found.jvm, found.levels)
        for found in combinations(said, overridden(jvm, JvmShape(heap=(HEAP,))))
    )
    return Experiment(
        key="adhoc",
        title=f"What tracing costs {speed}, depth {parameters.depth}",
        workload=WORKLOAD,
        parts=parts,
        schedule=schedule or Schedule(),
    )


def searched_experiment(
    agents: Mapping[str, Agent],
    agent_keys: Sequence[str],
    configurations: Sequence[str] | None = None,
    *,
    depth: int | None = None,
    threads: int | None = None,
    jdk: str | None = None,
    collector: str | None = None,
    heap: str | None = None,
    seconds: str | None = None,
    lowest: str | None = None,
    further: int | None = None,
    budget: str | None = None,
) -> tuple[Experiment, Search]:
    """A part for each configuration, and how to search; None is an option that was not given.

    Without ``configurations`` each agent's stock ones are searched. Raises CatalogError with every problem.
    """
    from tracetax.statistics.threshold import rounded  # loads SciPy, for which nothing else here should wait

    report, otherwise = Report(COMMAND_LINE), Search()
    known = Known(agents)
    uses = _typed_uses(agent_keys, configurations, known, report)
    for use in uses:
        delivery = agents[use.agent].configurations[use.configuration].delivery
        if delivery not in PROMISED:
            every = agents[use.agent].configurations.values()
            others = [one.name for one in every if one.delivery in PROMISED and ":" not in one.name]
            hint = f". Of {use.agent}'s, {', '.join(others)} do   (--configuration)" if others else ""
            text = f"{use} promises no record one by one ({delivery}): there is no rate to search for{hint}"
            report.add("--configuration", text)
    length_ns: int | None = None if seconds is None else read_one(seconds, Duration, "--seconds", report)
    if length_ns is not None and length_ns < SHORTEST_NS:
        report.add("--seconds", f'"{seconds}" says too little about a rate: a trial calls for a second at least')
    at_least = otherwise.lowest if lowest is None else read_one(lowest, CallRate, "--lowest", report)
    if at_least == FULL:
        report.add("--lowest", '"full" is tried in any case: write for example "10/s"')
    search = Search(
        seconds=otherwise.seconds if length_ns is None else length_ns / 1e9,
        lowest=otherwise.lowest if at_least in (None, FULL) else rounded(float(at_least)),
        resolution=otherwise.resolution,
        further=otherwise.further if further is None else read_one(further, Further, "--further", report),
    )
    parameters = {
        "calls": (read_one(CALLS_AT_FULL_SPEED, Calls, "--calls", report),),
        "depth": (read_one(DEPTH if depth is None else depth, Depth, "--depth", report),),
        "threads": (read_one(1 if threads is None else threads, Threads, "--threads", report),),
    }
    jvm = _read_jvm({"jdk": jdk, "collector": collector, "heap": heap}, report)
    budget_ns: int = read_one(SEARCH_BUDGET if budget is None else budget, Duration, "--budget", report)
    raise_problems(report)
    parts = tuple(
        Part(
            name=f"{use.agent}-{use.configuration}{found.suffix}".replace(":", "-"),
            title=f"{agents[use.agent].name} ({agents[use.agent].configurations[use.configuration].title})"
            f"{found.title_suffix}",
            parameters=found.parameters,
            uses=(use,),
            jvm=found.jvm,
            levels=found.levels,
        )
        for use in uses
        for found in combinations(parameters, overridden(jvm, JvmShape(heap=(HEAP,))))
    )
    experiment = Experiment(
        key="capacity",
        title="The highest rate at which every record is delivered",
        workload=WORKLOAD,
        parts=parts,
        schedule=Schedule(budget_ns=budget_ns, memory=False),
    )
    return experiment, search


def typed_jvm(*, jdk: str | None = None, collector: str | None = None, heap: str | None = None) -> JvmShape:
    """What was typed, each option a list with commas between; None is one that was not given.

    Raises CatalogError with every problem, named by its option.
    """
    report = Report(COMMAND_LINE)
    shape = _read_jvm({"jdk": jdk, "collector": collector, "heap": heap}, report)
    raise_problems(report)
    return shape


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


def _typed_uses(
    agent_keys: Sequence[str], names: Sequence[str] | None, known: Known, report: Report
) -> tuple[Use, ...]:
    """The configurations of these names, of every agent that has one of them; without names, the stock ones."""
    if not agent_keys:
        report.add("--agent", f"names no agent   {listed('agents', known.agents.values())}")
    agents = [agent for key in agent_keys if (agent := _named_agent(key, names, known, report))]
    return _stock(agents, report) if names is None else _named(agents, names, report)


def _named_agent(key: str, names: Sequence[str] | None, known: Known, report: Report) -> Agent | None:
    agent = known.agents.get(key)
    if agent is None:
        report.add("--agent", unknown_agent(key, known))
    elif key == BASELINE.agent and (names is None or BASELINE.configuration in names):
        others = ", ".join(name for name in agent.configurations if name != BASELINE.configuration)
        hint = f"; its other forms can be named: {others}   (--configuration)" if others else ""
        text = f'"{key}" is the baseline: it delivers no records, and is in every block without being named{hint}'
        report.add("--agent", text)
        return None
    return agent


def _stock(agents: list[Agent], report: Report) -> tuple[Use, ...]:
    """The configurations of profile stock that deliver records."""
    uses: dict[Use, None] = {}
    for agent in agents:
        stock = [
            Use(agent.key, configuration.name)
            for configuration in agent.configurations.values()
            if configuration.profile is Profile.STOCK and configuration.delivery is not Delivery.NONE
        ]
        if not stock:
            text = f"{agent.key} has no stock configuration that delivers records; name one by --configuration"
            report.add("--agent", text)
        uses |= dict.fromkeys(stock)
    return tuple(uses)


def _named(agents: list[Agent], names: Sequence[str], report: Report) -> tuple[Use, ...]:
    uses: dict[Use, None] = {}
    for name in names:
        having = [
            use
            for agent in agents
            if (use := Use(agent.key, configured(agent, name))).configuration in agent.configurations
        ]
        if not having and agents:
            hint = did_you_mean(name, [one for agent in agents for one in agent.configurations])
            owners = ", ".join(agent.key for agent in agents)
            report.add("--configuration", f'"{name}" is no configuration of {owners}{hint}')
        uses |= dict.fromkeys(having)
    return tuple(uses)


def _read_jvm(typed: Mapping[str, str | None], report: Report) -> JvmShape:
    """The JVM settings that were typed, with every problem in ``report``."""
    found: dict[str, Any] = {
        key: [_number(item.strip()) for item in text.split(",")] for key, text in typed.items() if text is not None
    }
    of_file = Report(report.file)
    shape = read(found, JvmShape, of_file)
    for problem in of_file.problems:
        report.add(f"--{problem.key.partition('[')[0]}", problem.text)
    for key, levels in overridden(shape).items():
        if len(set(levels)) < len(levels) and not report.concerns(f"--{key}"):
            report.add(f"--{key}", "names the same value twice")
    return shape


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text
