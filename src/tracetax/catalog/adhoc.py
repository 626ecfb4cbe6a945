"""An experiment from options of the command line, without a file."""

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from tracetax.catalog.experiment_shape import CallRate, Calls, Depth, JvmShape, Threads
from tracetax.catalog.factors import combinations, overridden, too_long
from tracetax.catalog.problems import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.shape import read_one
from tracetax.catalog.typed import read_jvm
from tracetax.catalog.typed_uses import typed_uses
from tracetax.catalog.uses import Known
from tracetax.model import FULL, Agent, Experiment, Parameters, Part, Rate, Schedule

WORKLOAD = "calltree/java"
CALLS_AT_FULL_SPEED = 200_000
SECONDS_AT_A_RATE = 3
DEPTH = 10
HEAP = 1 << 30


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
    uses = typed_uses(agent_keys, configurations, known, report)
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
    jvm = read_jvm({"jdk": jdk, "collector": collector, "heap": heap}, report)
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
