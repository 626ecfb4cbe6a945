"""What may stand in an experiment's file; docs/experiment-file.md explains every key."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tracetax.catalog import units
from tracetax.catalog.agent_shape import Duration, Name, Size, Text
from tracetax.model import Rate

Calls: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Depth: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
Threads: TypeAlias = Annotated[int, Meta(ge=1, le=1_024)]
CallRate: TypeAlias = Annotated[Rate, Meta(extra={"read": units.rate})]
Blocks: TypeAlias = Annotated[int, Meta(ge=2)]
NarrowEnough: TypeAlias = Annotated[units.HalfWidth, Meta(extra={"read": units.half_width})]
Collector: TypeAlias = Literal["G1", "Parallel", "Serial", "Z", "Shenandoah"]


class ParametersShape(Struct, frozen=True, kw_only=True):
    """``[parameters]``: one value or a list of them, which makes a factor. None is not said here."""

    calls: Annotated[tuple[Calls, ...], Meta(extra={"factor": True})] | None = None
    depth: Annotated[tuple[Depth, ...], Meta(extra={"factor": True})] | None = None
    method_time: Annotated[tuple[Duration, ...], Meta(extra={"factor": True})] | None = None
    threads: Annotated[tuple[Threads, ...], Meta(extra={"factor": True})] | None = None
    rate: Annotated[tuple[CallRate, ...], Meta(extra={"factor": True})] | None = None
    wait: Annotated[tuple[Literal["spin", "park"], ...], Meta(extra={"factor": True})] | None = None


class JvmShape(Struct, frozen=True, kw_only=True):
    """``[jvm]``."""

    heap: Size
    collector: Collector = "G1"


class UsesShape(Struct, frozen=True, kw_only=True):
    """``[[configurations]]``: configurations of one agent."""

    agent: Text
    use: tuple[Text, ...]


class PartShape(Struct, frozen=True, kw_only=True):
    """``[[parts]]``."""

    name: Name
    title: Text
    parameters: ParametersShape = ParametersShape()
    configurations: tuple[UsesShape, ...] = ()


class BlocksShape(Struct, frozen=True, kw_only=True):
    """``blocks = { min = 10, max = 30 }``."""

    min: Blocks | None = None
    max: Blocks | None = None


class ScheduleShape(Struct, frozen=True, kw_only=True):
    """``[schedule]``."""

    blocks: BlocksShape = BlocksShape()
    half_width: NarrowEnough | None = None
    budget: Duration | None = None
    memory: bool | None = None


class FastShape(Struct, frozen=True, kw_only=True):
    """``[fast]``: what ``--fast`` changes."""

    parameters: ParametersShape = ParametersShape()
    schedule: ScheduleShape = ScheduleShape()


class PublishedShape(Struct, frozen=True, kw_only=True):
    """``[published]``: a table of published numbers to stand beside the measured ones."""

    table: Text
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
    jvm: JvmShape
    configurations: tuple[UsesShape, ...] = ()
    parts: tuple[PartShape, ...] = ()
    schedule: ScheduleShape = ScheduleShape()
    fast: FastShape | None = None
    published: PublishedShape | None = None
