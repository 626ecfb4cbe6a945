"""What ``./tracetax capacity`` searches, from the options of the command line: a part for each configuration."""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta

from tracetax.catalog.adhoc import DEPTH, HEAP, WORKLOAD
from tracetax.catalog.agent_shape import Duration
from tracetax.catalog.experiment_shape import CallRate, Calls, Depth, JvmShape, Threads
from tracetax.catalog.factors import combinations, overridden
from tracetax.catalog.problems import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.shape import read_one
from tracetax.catalog.typed import read_jvm
from tracetax.catalog.typed_uses import typed_uses
from tracetax.catalog.uses import Known
from tracetax.model import FULL, Agent, Delivery, Experiment, Part, Schedule, Search
from tracetax.statistics.threshold import three_digits

CALLS = 200_000
"""Of the trial at full speed, with which every search begins."""
BUDGET = "20min"
SHORTEST_NS = 10**9
"""In less time, a hiccup of the machine decides whether a rate was made."""
Further: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
PROMISED = (Delivery.COMPLETE, Delivery.LOSSY)


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
    report, otherwise = Report(COMMAND_LINE), Search()
    known = Known(agents)
    uses = typed_uses(agent_keys, configurations, known, report)
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
        lowest=otherwise.lowest if at_least in (None, FULL) else three_digits(float(at_least)),
        resolution=otherwise.resolution,
        further=otherwise.further if further is None else read_one(further, Further, "--further", report),
    )
    parameters = {
        "calls": (read_one(CALLS, Calls, "--calls", report),),
        "depth": (read_one(DEPTH if depth is None else depth, Depth, "--depth", report),),
        "threads": (read_one(1 if threads is None else threads, Threads, "--threads", report),),
    }
    jvm = read_jvm({"jdk": jdk, "collector": collector, "heap": heap}, report)
    budget_ns: int = read_one(BUDGET if budget is None else budget, Duration, "--budget", report)
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
