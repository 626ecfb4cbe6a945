"""What may stand in an experiment's file; docs/experiment-file.md explains every key."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

from tracetax.catalog import units
from tracetax.catalog.agent_shape import Duration, Name, Text
from tracetax.model import Rate

Calls: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Depth: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
Threads: TypeAlias = Annotated[int, Meta(ge=1, le=1_024)]
StartUpMethods: TypeAlias = Annotated[int, Meta(ge=0, le=5_000)]
CallTime: TypeAlias = Annotated[int, Meta(extra={"read": units.call_time})]
Heap: TypeAlias = Annotated[int, Meta(extra={"read": units.heap})]
CallRate: TypeAlias = Annotated[Rate, Meta(extra={"read": units.rate})]
Blocks: TypeAlias = Annotated[int, Meta(ge=1)]
Starts: TypeAlias = Annotated[int, Meta(ge=0, le=1_000)]
NarrowEnough: TypeAlias = Annotated[units.HalfWidth, Meta(extra={"read": units.half_width})]
Release: TypeAlias = Annotated[int, Meta(ge=8, le=99)]
Collector: TypeAlias = Literal["G1", "Parallel", "Serial", "Z", "Shenandoah"]


class ParametersShape(Struct, frozen=True, kw_only=True):
    """``[parameters]``: one value or a list of them, which makes a factor. None is not said here."""

    calls: Annotated[tuple[Calls, ...], Meta(extra={"factor": True})] | None = None
    depth: Annotated[tuple[Depth, ...], Meta(extra={"factor": True})] | None = None
    method_time: Annotated[tuple[CallTime, ...], Meta(extra={"factor": True})] | None = None
    threads: Annotated[tuple[Threads, ...], Meta(extra={"factor": True})] | None = None
    rate: Annotated[tuple[CallRate, ...], Meta(extra={"factor": True})] | None = None
    wait: Annotated[tuple[Literal["spin", "park"], ...], Meta(extra={"factor": True})] | None = None
    start_up_methods: Annotated[tuple[StartUpMethods, ...], Meta(extra={"factor": True})] | None = None
    start_up_monitored: Annotated[tuple[StartUpMethods, ...], Meta(extra={"factor": True})] | None = None
    start_up_built: Annotated[tuple[bool, ...], Meta(extra={"factor": True})] | None = None


class JvmShape(Struct, frozen=True, kw_only=True):
    """``[runtime.java]``: one value or a list of them, which makes a factor. None is not said here."""

    jdk: Annotated[tuple[Release, ...], Meta(extra={"factor": True})] | None = None
    collector: Annotated[tuple[Collector, ...], Meta(extra={"factor": True})] | None = None
    heap: Annotated[tuple[Heap, ...], Meta(extra={"factor": True})] | None = None


class RuntimesShape(Struct, frozen=True, kw_only=True):
    """``[runtime.<runtime>]``; ``[jvm]`` is the older name of ``[runtime.java]``."""

    java: JvmShape | None = None


class UsesShape(Struct, frozen=True, kw_only=True):
    """``[[configurations]]``: configurations of one agent."""

    agent: Text
    use: tuple[Text, ...]
    technologies: tuple[Text, ...] | None = None
    if_given: bool = False


class PartShape(Struct, frozen=True, kw_only=True):
    """``[[parts]]``."""

    name: Name
    title: Text
    parameters: ParametersShape = ParametersShape()
    jvm: JvmShape = JvmShape()
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


class VariantShape(Struct, frozen=True, kw_only=True):
    """``[fast]`` or ``[as-published]``: what ``--fast`` or ``--as-published`` changes."""

    parameters: ParametersShape = ParametersShape()
    jvm: JvmShape = JvmShape()
    runtime: RuntimesShape = RuntimesShape()
    schedule: ScheduleShape = ScheduleShape()


class PublishedShape(Struct, frozen=True, kw_only=True):
    """``[published]``: tables of published numbers to stand beside the measured ones."""

    table: Annotated[tuple[Text, ...], Meta(extra={"factor": True})]
    where: dict[Text, str] = {}
    agents: dict[Name, Text] = {}


class ExperimentShape(Struct, frozen=True, kw_only=True):
    """The whole file."""

    title: Text
    workload: Text
    paper: Text | None = None
    result: bool = True
    rank_by: Literal["cpu", "overhead"] = "cpu"
    parameters: ParametersShape = ParametersShape()
    jvm: JvmShape = JvmShape()
    runtime: RuntimesShape = RuntimesShape()
    configurations: tuple[UsesShape, ...] = ()
    parts: tuple[PartShape, ...] = ()
    schedule: ScheduleShape = ScheduleShape()
    fast: VariantShape | None = None
    as_published: VariantShape | None = field(default=None, name="as-published")
    published: PublishedShape | None = None
