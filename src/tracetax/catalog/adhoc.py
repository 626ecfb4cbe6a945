"""An experiment from options of the command line, without a file, and options that change a schedule."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tracetax.catalog import units
from tracetax.catalog.agent_file import BASELINE
from tracetax.catalog.problems import Report, raise_problems
from tracetax.catalog.scheduling import Wishes, scheduled
from tracetax.catalog.uses import Known, unknown_agent
from tracetax.model import (
    FULL,
    Agent,
    Delivery,
    Experiment,
    JvmSettings,
    Parameters,
    Part,
    Profile,
    Rate,
    Schedule,
    Use,
)

COMMAND_LINE = "the command line"
WORKLOAD = "calltree/java"
CALLS_AT_FULL_SPEED = 200_000
SECONDS_AT_A_RATE = 3

Read = TypeVar("Read")


def adhoc_experiment(
    agents: Mapping[str, Agent],
    agent_keys: Sequence[str],
    *,
    rate: str = FULL,
    depth: int = 10,
    calls: int | None = None,
    threads: int = 1,
    heap: str = "1 GiB",
    schedule: Schedule | None = None,
) -> Experiment:
    """Measure agents as they are shipped: each one's stock configurations that deliver records.

    Quantities are text with units, as in a file. Without ``calls``, a trial at a rate lasts three seconds, and one at
    full speed makes 200,000 calls. Raises CatalogError with every problem, named by its option.
    """
    report = Report(COMMAND_LINE)
    known = Known(agents)
    uses = _stock_uses(agent_keys, known, report)
    per_second: Rate = _read(units.rate, rate, "--rate", FULL, report)
    heap_bytes = _read(units.size, heap, "--heap", 0, report)
    if calls is None:
        calls = CALLS_AT_FULL_SPEED if per_second == FULL else max(1, round(SECONDS_AT_A_RATE * per_second))
    for option, value in (("--depth", depth), ("--calls", calls), ("--threads", threads)):
        if value < 1:
            report.add(option, f"must be at least 1, not {value}")
    parameters = Parameters(calls=calls, depth=depth, rate=per_second, threads=threads)
    raise_problems(report)
    speed = "at full speed" if per_second == FULL else f"at {per_second:,g} calls/s"
    title = f"What tracing costs {speed}, depth {depth}"
    return Experiment(
        key="adhoc",
        title=title,
        workload=WORKLOAD,
        parts=(Part("adhoc", f"{speed[0].upper()}{speed[1:]}", parameters, uses),),
        jvm=JvmSettings(heap_bytes),
        schedule=schedule or Schedule(),
    )


def rescheduled(
    schedule: Schedule,
    *,
    min_blocks: int | None = None,
    max_blocks: int | None = None,
    half_width: str | None = None,
    budget: str | None = None,
) -> Schedule:
    """A schedule changed by ``--min-blocks``, ``--max-blocks``, ``--half-width`` and ``--budget``.

    Raises CatalogError with every problem, named by its option.
    """
    report = Report(COMMAND_LINE)
    for option, value in (("--min-blocks", min_blocks), ("--max-blocks", max_blocks)):
        if value is not None and value < 2:
            report.add(option, f"must be at least 2, not {value}")
    wishes = Wishes(
        min_blocks=min_blocks,
        max_blocks=max_blocks,
        half_width=_read(units.half_width, half_width, "--half-width", None, report) if half_width else None,
        budget_ns=_read(units.duration, budget, "--budget", None, report) if budget else None,
    )
    changed = scheduled(wishes, schedule, report, min_key="--min-blocks", max_key="--max-blocks")
    raise_problems(report)
    return changed


def _stock_uses(agent_keys: Sequence[str], known: Known, report: Report) -> tuple[Use, ...]:
    uses: dict[Use, None] = {}
    for key in agent_keys:
        agent = known.agents.get(key)
        if agent is None or key == BASELINE.agent:
            baseline = f'"{key}" is the baseline, which every block contains twice without being named'
            report.add("--agent", unknown_agent(key, known) if agent is None else baseline)
            continue
        stock = [
            Use(key, configuration.name)
            for configuration in agent.configurations.values()
            if configuration.profile is Profile.STOCK and configuration.delivery is not Delivery.NONE
        ]
        if not stock:
            report.add("--agent", f"{key} has no stock configuration that delivers records; name one in a file")
        uses |= dict.fromkeys(stock)
    if not agent_keys:
        report.add("--agent", "names no agent   (./tracetax list agents)")
    return tuple(uses)


def _read(reader: Callable[[object], Read], value: str, option: str, otherwise: Read, report: Report) -> Read:
    try:
        return reader(value)
    except units.UnitError as error:
        report.add(option, str(error))
        return otherwise
