"""``findings.json``: what a run found, the same for every kind of workload. Numbers in base units: ns, bytes, 1."""

from inspect import cleandoc
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from tracetax.kinds import AnyParameters
from tracetax.model import BASELINE, Settings, Use
from tracetax.program import RuntimeVersion
from tracetax.results.earlier import Java, JvmSettings
from tracetax.results.measure_names import MeasureName
from tracetax.results.records import Cell, Verdict
from tracetax.results.runtime import RuntimeFinding
from tracetax.service import Objective
from tracetax.statistics.intervals import Estimate

SCHEMA_VERSION = 1


class Measure(Struct, frozen=True):
    """One quantity of one configuration: mean over blocks with Student's t interval.

    Intervals of medians, percentiles and maxima are on a logarithmic scale: they never reach zero, and wide ones reach
    further up than down.
    """

    name: MeasureName
    unit: Literal["ns", "bytes", "1", "1/s"]
    per: Literal["call", "invocation", "record", "method", ""]
    estimate: float
    sd: float | None
    ci95: tuple[float, float] | None
    """[low, high]; None with fewer than two blocks."""
    n_blocks: int
    paired_with: str | None = None
    """``baseline`` where it is a comparison inside blocks."""
    labels: tuple[str, ...] = ()
    """``indicative`` (fewer than 10 blocks), ``two-regimes``, ``within-aa-band``, ``not-settled`` (10 blocks or more),
    ``no-steady-state``."""


class Records(Struct, frozen=True):
    """Records of all counted blocks together, measured phase only."""

    expected: int
    received: int
    dropped_reported: int
    completeness: float | None
    expected_trees: int
    complete_trees: int
    partial_trees: int
    orphans: int
    duplicates: int
    unexpected_names: int
    unexpected: dict[str, int]
    malformed: int
    evicted: int
    bytes: int
    blocks_incomplete: int
    """Blocks in which records were missing."""
    blocks: int
    offered_per_second: float | None
    """Records generated per second during the calls."""
    calls: int = 0
    """Of these blocks together: what made the records."""
    lost_datagrams: int = 0
    """Datagrams of the agent that were lost in this machine's kernel before the sink could read them."""
    lost_in_kernel: int = 0
    """Records that are missing for that, at most: no loss of the agent's."""
    truncated: int = 0
    """Records that were never made because the agent cuts call trees by design: neither expected nor lost."""
    made: int = 0
    """Records that the calls make if every one of them is recorded: what the share of a sample is of."""
    due: int = 0
    """Records that the sampler lets through; 0 where it does not sample, or by time, or where that is not known."""
    missing_of_sample: int = 0
    """How many of these never arrived, in trials where chance does not explain it."""


class StartsFinding(Struct, frozen=True):
    """How many starts of a row were slow, and what that says of the starts that nobody made."""

    slow: int
    """0 where all starts are of one regime."""
    starts: int
    """Those of the blocks, and those outside."""
    upper: float
    """With 95 % confidence a smaller share of all starts is slow (Clopper and Pearson 1934, one-sided)."""
    outside_blocks: int
    """Starts of it alone, whose times count for nothing else."""
    slower: float | None = None
    """Mean of the slow starts ÷ that of the others; None where none was slow."""


class PublishedValue(Struct, frozen=True):
    """What a paper printed for the row that a configuration reproduces."""

    platform: str
    estimate: float
    sd: float | None
    unit: Literal["ns"]
    per: Literal["call"]
    source: str
    """Table of the paper, and the row in it."""


class ReleaseFinding(Struct, frozen=True):
    """Where a row stands among several releases of its agent: on a line over their days."""

    line: str
    """What the rows of several releases are called together that can be compared."""
    released: str
    """The day of the release, ``2013-10-16``."""


class ConfigurationFinding(Struct, frozen=True):
    """One row: a configuration under one part's parameters. Baselines are rows too (agent ``none``)."""

    agent: str
    agent_name: str
    version: str
    artifact_sha256: str
    configuration: str
    title: str
    profile: str | None
    delivery: str
    layers: tuple[str, ...]
    part: str
    parameters: AnyParameters
    heap_bytes: int
    records: Records
    verdicts: tuple[Verdict, ...]
    measures: tuple[Measure, ...]
    rank: int | None
    """Among those of its part that deliver everything; ties share a rank; None where not ranked."""
    deferred: bool
    """Most of its records were delivered after the last call."""
    published: tuple[PublishedValue, ...] = ()
    build: str = ""
    """Which of two builds was measured, where two are compared: the name of its file."""
    technology: str = ""
    """How the agent's probes got into the program, where its agent knows several ways."""
    java: Java | None = None
    """Older name of ``ran_on`` where that is a Java."""
    collector: str = ""
    """Older name of ``settings.collector`` of its part."""
    backend: str = ""
    """The backend in the sink's place, by the name of its folder; empty for the sink."""
    backend_name: str = ""
    """Its name and version."""
    ranks: dict[Literal["cpu", "overhead"], int] = {}
    """Ranks by either cost, as far as it is known of all that are ranked; ``rank`` is the one of ``rank_by``."""
    starts: StartsFinding | None = None
    """None where fewer than five are known: too few to tell a slow one."""
    ran_on: RuntimeVersion | None = None
    """The version of the runtime that its trials ran on."""
    release: ReleaseFinding | None = None
    """Which of several releases of the agent it is, where its agent's file has several."""

    @property
    def use(self) -> Use:
        """The configuration that the row is of."""
        return Use(self.agent, self.configuration, self.build, self.backend)

    @property
    def cell(self) -> Cell:
        """What tells the row from all others: the cell of its trials, without their role."""
        return Cell(self.part, self.use, self.heap_bytes)

    @property
    def is_baseline(self) -> bool:
        """Whether it is the workload without an agent, with which everything is compared."""
        return self.use == BASELINE


class AABand(Struct, frozen=True):
    """What this machine calls no difference: baseline against baseline in the same blocks."""

    part: str
    heap_bytes: int
    n_blocks: int
    overhead_ns_per_call: float | None
    """Half-width in ns per call; per invocation it is this ÷ depth."""
    ratio: float | None
    """Half-width of the log ratio."""


class PartFinding(Struct, frozen=True):
    """One table of the report."""

    name: str
    title: str
    parameters: AnyParameters
    blocks: int
    stopped: Literal["settled", "unsettleable", "budget", "max-blocks", "interrupted", "failed"]
    indicative: bool
    """Fewer than 10 blocks."""
    jvm: JvmSettings | None = None
    """Older name of ``settings`` where they are those of a Java."""
    java: Java | None = None
    """Older name of ``ran_on`` where that is a Java."""
    levels: str = ""
    """Its level of each factor, in words: ``depth 2, JDK 21``; empty where there is no factor."""
    settings: Settings = {}
    """What was set of the runtime, sizes in bytes."""
    ran_on: RuntimeVersion | None = None
    """The version of the runtime that its trials ran on."""
    workload: str = ""
    """The program that it measures; empty in runs of an earlier version, whose experiments measured one."""


class ExperimentFinding(Struct, frozen=True):
    """Which experiment the run executed."""

    key: str
    title: str
    workload: str
    """Several of one kind have commas between."""
    paper: str | None
    result: bool
    seed: int
    run: str
    command: tuple[str, ...]
    started_at: str
    parts: tuple[PartFinding, ...]
    rank_by: Literal["cpu", "overhead"] = "cpu"
    """What the rows that deliver everything are ranked by: as the experiment says, or ``overhead`` where CPU is not
    known of all of them."""
    runtime: RuntimeFinding | None = None
    """The runtime of the workload; None where several are measured."""
    runtimes: dict[str, RuntimeFinding] = {}
    """Where several workloads are measured, the runtime of each, by the workload."""
    service: str = ""
    """The command of the user's own service, where that is what was measured."""
    objective: Objective | None = None
    """What its response times were asked to stay below."""

    def runtime_of(self, part: PartFinding) -> RuntimeFinding | None:
        """The runtime of a part's workload."""
        return self.runtimes.get(part.workload, self.runtime)


class BuildComparison(Struct, frozen=True):
    """Two builds of an agent, measured in the same blocks."""

    part: str
    configuration: str
    builds: tuple[str, str]
    ratio: Measure
    """Service time of the second ÷ that of the first, paired by block: the geometric mean over blocks."""
    difference: Measure
    """The second's less the first's, ns per invocation."""
    verdict: Literal["slower", "faster", "same", "undecided"]
    """Of the second against the first."""
    text: str
    """The verdict in words: by how much, the same within what, or how many blocks it would take."""
    agent: str = ""
    cpu: Measure | None = None
    """CPU of all threads per call of the second ÷ that of the first, paired by block; None where it was not sampled."""
    margin: float | None = None
    """Of the ratio's logarithm: what is smaller counts as no difference; None in runs of an earlier version."""


class PublishedLineValue(Struct, frozen=True):
    """A line that a paper printed for a configuration: time of a call, ns = slope · invocations + intercept."""

    platform: str
    slope: float
    intercept: float
    r_squared: float | None
    source: str
    """Table of the paper, and the row in it."""


class GrowthFinding(Struct, frozen=True):
    """A line through one cost of a configuration, over parts that differ in one count of what is monitored.

    cost = slope · count + intercept, fitted in each block: their intervals are over blocks. Labels beside those of a
    measure: ``bent`` (the means follow a curve), ``lost-records`` (of at least one part), ``truncated`` (calls were cut
    in at least one part).
    """

    factor: str
    """The parameter that counts: ``depth``, invocations per call, or ``start_up_monitored``, methods."""
    levels: str
    """The levels of other factors, in words, which its parts share; empty where there is none."""
    values: tuple[float, ...]
    parts: tuple[str, ...]
    agent: str
    agent_name: str
    configuration: str
    title: str
    build: str
    backend: str
    backend_name: str
    slope: Measure
    """What one more costs."""
    intercept: Measure
    """What is paid however many there are."""
    r_squared: float | None
    """Of the line through the means; None with two points."""
    cut: tuple[float, ...] = ()
    """The values at which the agent cut calls by design."""
    published: tuple[PublishedLineValue, ...] = ()
    """What a paper printed, one line per platform; beside ``service_time`` only."""

    @property
    def use(self) -> Use:
        """The configuration that the line is of."""
        return Use(self.agent, self.configuration, self.build, self.backend)


class Statement(Struct, frozen=True):
    """A sentence derived from the run, with the rows it rests on."""

    id: str
    text: str
    rests_on: tuple[str, ...]


class SwitchFinding(Struct, frozen=True):
    """What is left of an agent where one of its instrumentations is off, beside all of them in the same blocks."""

    part: str
    agent: str
    whole: str
    """The configuration with all of them."""
    configuration: str
    without: str
    """The instrumentation that is off."""
    title: str
    records_whole: float
    """Records that arrived of a request, with all of them."""
    records: float
    """The same where it is off."""
    cpu_saved_ns: Estimate
    """CPU of a request with all of them, less that where it is off: mean over blocks, ns."""
    cpu_left: Estimate | None
    """CPU that the agent still adds to a request, as a share of what it adds with all, by Fieller's interval. None
    where it adds too little to be told."""


class Findings(Struct, frozen=True):
    """The whole file."""

    schema_version: int
    tool_version: str
    experiment: ExperimentFinding
    machine: dict[str, Any]
    aa: tuple[AABand, ...]
    configurations: tuple[ConfigurationFinding, ...]
    statements: tuple[Statement, ...]
    verdicts: tuple[Verdict, ...]
    """Of the run as a whole, for example ``interrupted`` or ``two-cores``."""
    comparisons: tuple[BuildComparison, ...] = ()
    growth: tuple[GrowthFinding, ...] = ()
    switches: tuple[SwitchFinding, ...] = ()


def find_measure(row: ConfigurationFinding, name: MeasureName, per: str | None = None) -> Measure | None:
    """A row's measure by name, and by what it is per where that is asked."""
    return next((measure for measure in row.measures if measure.name == name and per in (None, measure.per)), None)


def findings_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) of what this version writes, as in ``docs/findings.schema.json``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Tracetax findings, version {SCHEMA_VERSION}",
        **_without_indents(msgspec.json.schema(Findings)),
    }


def _without_indents(schema: Any) -> Any:
    """The schema with descriptions as Python 3.13 gives them: before, docstrings kept the indents of their lines."""
    if isinstance(schema, list):
        return [_without_indents(each) for each in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        key: cleandoc(value) if key == "description" and isinstance(value, str) else _without_indents(value)
        for key, value in cast(dict[str, Any], schema).items()
    }
