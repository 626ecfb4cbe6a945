"""What may stand in an experiment's file, and what its lists, its versions and its schedule come to.

docs/experiment-file.md explains every key. A list in ``[parameters]`` or ``[runtime.<runtime>]`` makes a factor: one
part of each combination. ``[fast]`` and ``[as-published]`` are versions, each asked for by an option of its name.

What ``[parameters]`` may say depends on the workload's kind, and what may be set of the runtime on the workload:
``shape_for`` adds those tables to the shapes that stand here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct, defstruct, field
from msgspec.structs import replace

from tracetax.catalog import units
from tracetax.catalog.kinds import KindOfFile, ParametersShape, kind_of_file
from tracetax.catalog.own.service import ServiceTable
from tracetax.catalog.reading import Name, Report, Text, join
from tracetax.catalog.settings import RuntimesShape, Said, runtime_tables, said_in, settings_path
from tracetax.catalog.units import LONGEST_TRIAL_NS, Calls, CpuUse, Duration, HalfWidth, Share, written
from tracetax.catalog.workload_file import MeasuredProgram
from tracetax.kinds import AnyParameters, declaration_of
from tracetax.model import FULL, Schedule, Settings
from tracetax.program import Runtime, Setting

SECONDS_OF_SERVICE = 10.0
"""Length of a trial of a search that shows something of a service, where nobody says it."""
Blocks: TypeAlias = Annotated[int, Meta(ge=1)]
Starts: TypeAlias = Annotated[int, Meta(ge=0, le=1_000)]
NarrowEnough: TypeAlias = Annotated[HalfWidth, Meta(extra={"read": units.half_width})]


class UsesShape(Struct, frozen=True, kw_only=True):
    """``[[configurations]]``: configurations of one agent."""

    agent: Text
    use: tuple[Text, ...] | None = None
    technologies: tuple[Text, ...] | None = None
    if_given: bool = False


class PartShape(Struct, frozen=True, kw_only=True):
    """``[[parts]]``."""

    name: Name
    title: Text
    parameters: ParametersShape = ParametersShape()
    runtime: RuntimesShape = RuntimesShape()
    configurations: tuple[UsesShape, ...] = ()


class BlocksShape(Struct, frozen=True, kw_only=True):
    """``blocks = { min = 10, max = 30 }``."""

    min: Blocks | None = None
    max: Blocks | None = None


class CallsShape(Struct, frozen=True, kw_only=True):
    """``calls = { min = 500_000, max = 4_000_000 }``."""

    min: Calls | None = None
    max: Calls | None = None


class ScheduleShape(Struct, frozen=True, kw_only=True):
    """``[schedule]``."""

    blocks: BlocksShape = BlocksShape()
    half_width: NarrowEnough | None = None
    budget: Duration | None = None
    memory: bool | None = None
    starts: Starts | None = None
    calls: CallsShape = CallsShape()


class SearchShape(Struct, frozen=True, kw_only=True):
    """``[search]``: of each configuration the rate is searched for at which the service uses so much CPU."""

    usage: CpuUse
    seconds: Duration | None = None
    further: Annotated[int, Meta(ge=1, le=1_000)] | None = None


class RatesShape(Struct, frozen=True, kw_only=True):
    """``[rates]``: each part is measured at a share of the rate that a search has found for its slowest variant."""

    of: Text
    share: Share | None = None
    seconds: Duration | None = None


class VariantShape(Struct, frozen=True, kw_only=True):
    """``[fast]`` or ``[as-published]``: what ``--fast`` or ``--as-published`` changes."""

    parameters: ParametersShape = ParametersShape()
    runtime: RuntimesShape = RuntimesShape()
    schedule: ScheduleShape = ScheduleShape()


class PublishedShape(Struct, frozen=True, kw_only=True):
    """``[published]``: tables of published numbers to stand beside the measured ones."""

    table: Annotated[tuple[Text, ...], Meta(extra={"factor": True})]
    where: dict[Text, str] = {}
    agents: dict[Name, Text] = {}


class ExperimentShape(Struct, frozen=True, kw_only=True):
    """The whole file of an experiment."""

    title: Text
    workload: Annotated[tuple[Text, ...], Meta(extra={"factor": True})] = ()
    service: ServiceTable | None = None
    paper: Text | None = None
    result: bool = True
    rank_by: Literal["cpu", "overhead"] = "cpu"
    parameters: ParametersShape = ParametersShape()
    runtime: RuntimesShape = RuntimesShape()
    configurations: tuple[UsesShape, ...] = ()
    parts: tuple[PartShape, ...] = ()
    schedule: ScheduleShape = ScheduleShape()
    search: SearchShape | None = None
    rates: RatesShape | None = None
    fast: VariantShape | None = None
    as_published: VariantShape | None = field(default=None, name="as-published")
    published: PublishedShape | None = None


Table = TypeVar("Table", ParametersShape, ScheduleShape)
Variant: TypeAlias = Literal["", "fast", "as-published"]
"""The name of a version, which is its table's and its option's; empty for the experiment as it is."""
MISSING: dict[Variant, str] = {
    "fast": "there is no shorter version for --fast; --blocks and --budget shorten any experiment",
    "as-published": "there is no version for --as-published",
}
"""What is told where a version is asked for that the file does not describe."""


def shape_for(programs: Sequence[MeasuredProgram], every: Mapping[str, Runtime]) -> type[ExperimentShape]:
    """The shape of the file of an experiment that measures ``programs``, with what is of their kind and runtimes alone.

    Where one of them is not known, settings of any of the runtimes are read.
    """
    own = {program.runtime.key: program.runtime for program in programs if program.runtime}
    known = all(program.runtime for program in programs) and own
    here = own.values() if known else every.values()
    tables, misplaced = runtime_tables([program.key for program in programs], here, every)
    made: dict[str, Any] = {"frozen": True, "kw_only": True, "namespace": {"ELSEWHERE": misplaced}}
    parameters = kind_of_file(next(iter(programs)).key).PARAMETERS
    tables.append(("parameters", parameters, parameters()))
    part: Any = defstruct("PartShape", tables, bases=(PartShape,), **made)
    variant: Any = defstruct("VariantShape", tables, bases=(VariantShape,), **made)
    fields = [
        *tables,
        ("parts", tuple[part, ...], ()),
        ("fast", variant | None, None),
        ("as_published", variant | None, field(default=None, name="as-published")),
    ]
    whole: Any = defstruct("ExperimentShape", fields, bases=(ExperimentShape,), **made)
    return whole


class _Factor(Struct, frozen=True):
    """A parameter, or a setting of the runtime, with its levels."""

    key: str
    levels: tuple[Any, ...]
    kind: KindOfFile
    runtime: Runtime | None = None
    setting: Setting | None = None

    @property
    def varies(self) -> bool:
        """Whether it has more levels than one."""
        return len(self.levels) > 1

    @property
    def title(self) -> str:
        """What titles call it."""
        return (self.setting.title if self.setting else "") or self.key.replace("_", " ")

    def shown(self, level: Any) -> str:
        """A level of it in words."""
        if self.setting is None or self.runtime is None:
            return self.kind.shown(self.key, level) or _shown(self.key, level)
        if self.setting.kind == "release":
            return self.runtime.number(level)
        return written(level) if self.setting.kind == "size" else str(level)


class Combination(Struct, frozen=True):
    """One level of every factor."""

    parameters: AnyParameters
    settings: Settings
    suffix: str
    """For the part's name: ``-depth-2-jdk-21``; empty where there is no factor."""
    levels: str
    """In words: ``depth 2, JDK 21``."""

    @property
    def title_suffix(self) -> str:
        """For the part's title: ``, depth 2, JDK 21``."""
        return f", {self.levels}" if self.levels else ""


def overridden(*tables: ParametersShape) -> Said:
    """Every parameter that is said in one of the tables; an earlier table goes before a later one."""
    said: Said = {}
    for table in reversed(tables):
        said |= {key: levels for key in table.__struct_fields__ if (levels := getattr(table, key)) is not None}
    return {key: said[key] for key in tables[0].__struct_fields__ if key in said}


def combinations(parameters: Said, settings: Said, program: MeasuredProgram) -> Iterator[Combination]:
    """Every combination of the levels with a program, which is a level itself where an experiment measures several.

    ``parameters`` must contain those that the program's kind needs, ``settings`` are those of its runtime.
    """
    runtime, kind = program.runtime, kind_of_file(program.key)
    if program.offers:
        parameters = kind.completed(parameters, program.offers)
    factors = [_Factor(key, levels, kind) for key, levels in parameters.items()]
    if runtime:
        factors += [_Factor(key, levels, kind, runtime, runtime.settings[key]) for key, levels in settings.items()]
    for chosen in product(*(factor.levels for factor in factors)):
        shown = [(factor, factor.shown(level)) for factor, level in zip(factors, chosen, strict=True) if factor.varies]
        level = list(zip(factors, chosen, strict=True))
        yield Combination(
            parameters=kind.parameters_of({factor.key: value for factor, value in level if not factor.setting}),
            settings={factor.key: value for factor, value in level if factor.setting},
            suffix=program.suffix + "".join(f"-{factor.key.replace('_', '-')}-{_bare(text)}" for factor, text in shown),
            levels=", ".join(
                [*([program.level] if program.level else []), *(f"{factor.title} {text}" for factor, text in shown)]
            ),
        )


def too_long(parameters: AnyParameters) -> str:
    """Why the measured calls of a trial would take too long; empty where they would not."""
    seconds = parameters.calls * declaration_of(parameters).work_ns(parameters) / parameters.threads / 1e9
    if parameters.rate != FULL:
        seconds = max(seconds, parameters.calls / float(parameters.rate))
    if seconds <= LONGEST_TRIAL_NS / 1e9:
        return ""
    return f"would take {seconds / 3600:,.0f} hours in each trial: at most {LONGEST_TRIAL_NS / 3600e9:.0f} are allowed"


def check_variants(shape: ExperimentShape, programs: Sequence[MeasuredProgram], report: Report) -> None:
    """Check what the versions say by themselves, whether or not one is asked for."""
    own_parameters = [overridden(part.parameters) for part in shape.parts]
    for name, variant in _variants(shape):
        scheduled(variant.schedule, report, f"{name}.schedule")
        _check_factors(f"{name}.parameters", overridden(variant.parameters), own_parameters, report)
        for runtime in (program.runtime for program in programs if program.runtime):
            own = [said_in(f"parts[{index}]", part, runtime, report) for index, part in enumerate(shape.parts)]
            _check_factors(settings_path(name, runtime), said_in(name, variant, runtime, report), own, report)


def version_of(shape: ExperimentShape, name: Variant, report: Report) -> ExperimentShape:
    """The experiment with what a version's table says in place of its own; of ``[schedule]``, each key as a whole."""
    if not name:
        return shape
    variant = dict(_variants(shape)).get(name)
    if variant is None:
        report.add(name, f"is missing, so {MISSING[name]}")
        return shape
    return replace(
        shape,
        parameters=_merged(shape.parameters, variant.parameters),
        schedule=_merged(shape.schedule, variant.schedule),
    )


def settings_of_version(shape: ExperimentShape, name: Variant, runtime: Runtime | None, report: Report) -> Said:
    """What a version's table says of the runtime's settings."""
    variant = dict(_variants(shape)).get(name)
    return said_in(name, variant, runtime, report) if variant else {}


def scheduled(shape: ScheduleShape, report: Report, path: str = "schedule") -> Schedule:
    """The schedule of a file; what it does not say has its default, and one bound of blocks may move the other.

    ``path`` is where it stands in the file.
    """
    otherwise = Schedule()
    low, high = shape.blocks.min, shape.blocks.max
    if low is not None and high is not None and low > high:
        report.add(f"{path}.blocks.min", f"{low} is more than {path}.blocks.max, {high}")
    if low is None:
        low = otherwise.min_blocks if high is None else min(otherwise.min_blocks, high)
    if high is None:
        high = max(otherwise.max_blocks, low)
    if (shape.calls.min or 0) > (shape.calls.max or shape.calls.min or 0):
        report.add(f"{path}.calls.min", f"{shape.calls.min:,} is more than {path}.calls.max, {shape.calls.max:,}")
    width = shape.half_width or HalfWidth(None, None)
    return Schedule(
        min_blocks=low,
        max_blocks=high,
        half_width_ratio=otherwise.half_width_ratio if width.ratio is None else width.ratio,
        half_width_ns=otherwise.half_width_ns if width.time_ns is None else width.time_ns,
        budget_ns=otherwise.budget_ns if shape.budget is None else shape.budget,
        memory=otherwise.memory if shape.memory is None else shape.memory,
        starts=shape.starts,
        min_calls=shape.calls.min,
        max_calls=shape.calls.max,
    )


def _shown(key: str, value: Any) -> str:
    if key == "rate":
        return "full" if value == FULL else f"{value:,g}/s"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _bare(text: str) -> str:
    text = re.sub("[()%]", "", text)
    return text.replace(",", "").replace("/s", "").replace(" ", "").replace(".", "-").lower()


def _variants(shape: ExperimentShape) -> Iterator[tuple[Variant, VariantShape]]:
    """The versions that a file describes."""
    if shape.fast is not None:
        yield "fast", shape.fast
    if shape.as_published is not None:
        yield "as-published", shape.as_published


def _check_factors(path: str, said: Said, parts: Sequence[Said], report: Report) -> None:
    """Report levels of a version that are the same, and what is of no use because every part says it itself."""
    for name, levels in said.items():
        key = join(path, name)
        if report.concerns(key):
            continue
        if len(set(levels)) < len(levels):
            report.add(key, "names the same value twice")
        elif parts and all(name in own for own in parts):
            report.add(key, "changes nothing: every part says its own, which goes before")


def _merged(common: Table, own: Table) -> Table:
    unsaid = type(own)()
    said = {name: getattr(own, name) for name in own.__struct_fields__ if getattr(own, name) != getattr(unsaid, name)}
    return replace(common, **said)
