"""How files say what belongs to the call tree."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from tracetax.catalog import units
from tracetax.catalog.agent_shape import ClassName, Inside
from tracetax.catalog.kinds import ParametersShape, TypedParameters
from tracetax.catalog.reading import Positive, Report, Text, one_of, read_one
from tracetax.catalog.runtime_file import ThreadName
from tracetax.catalog.settings import Said
from tracetax.catalog.units import TIME, CallRate, Calls
from tracetax.catalog.workload_file import WorkloadShape
from tracetax.kinds.calltree import CALLS_AT_FULL_SPEED, KIND, TreeParameters
from tracetax.model import FULL, Rate
from tracetax.parameters import Offers, Wait
from tracetax.program import GeneratedFile, Monitored, StartUp, TextPart, ThreadNames, Workload

Depth: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
Threads: TypeAlias = Annotated[int, Meta(ge=1, le=1_024)]
StartUpMethods: TypeAlias = Annotated[int, Meta(ge=0, le=5_000)]
CallTime: TypeAlias = Annotated[int, Meta(extra={"read": units.call_time})]

DRIVES = True
HOSTED = False
NEEDED = ("calls", "depth")
CALLS = "calls"
OPTIONS = ("depth", "threads")
DEPTH = 10
SECONDS_AT_A_RATE = 3
"""Length of a trial at a rate where nobody says how many calls it makes."""


class TreeParametersShape(ParametersShape, frozen=True, kw_only=True):
    """``[parameters]``: one value or a list of them, which makes a factor; None where the key is not given."""

    calls: Annotated[tuple[Calls, ...], Meta(extra={"factor": True})] | None = None
    depth: Annotated[tuple[Depth, ...], Meta(extra={"factor": True})] | None = None
    method_time: Annotated[tuple[CallTime, ...], Meta(extra={"factor": True})] | None = None
    threads: Annotated[tuple[Threads, ...], Meta(extra={"factor": True})] | None = None
    rate: Annotated[tuple[CallRate, ...], Meta(extra={"factor": True})] | None = None
    wait: Annotated[tuple[Wait, ...], Meta(extra={"factor": True})] | None = None
    start_up_methods: Annotated[tuple[StartUpMethods, ...], Meta(extra={"factor": True})] | None = None
    start_up_monitored: Annotated[tuple[StartUpMethods, ...], Meta(extra={"factor": True})] | None = None
    start_up_built: Annotated[tuple[bool, ...], Meta(extra={"factor": True})] | None = None


class MonitoredShape(Struct, frozen=True, kw_only=True):
    """``monitored = { class = "…", simple_class = "…", method = "…" }``."""

    class_name: Text = field(name="class")
    simple_class: Text
    method: Text


class WarmUpShape(Struct, frozen=True, kw_only=True):
    """``warm_up = { least_calls = 10_000 }``."""

    least_calls: Positive


class OffersShape(Struct, frozen=True, kw_only=True):
    """``offers = { threads_max = 64, wait = ["spin", "park"] }``."""

    threads_max: Positive
    wait: tuple[Wait, ...]


class OwnThreadsShape(Struct, frozen=True, kw_only=True):
    """``[threads]``."""

    caller: tuple[ThreadName, ...] = ()
    own: tuple[ThreadName, ...] = ()


class TextPartShape(Struct, frozen=True, kw_only=True):
    """A part of ``[[start_up.files]]``."""

    text: Text
    each: Literal["monitored", "unmonitored"] | None = None


class GeneratedFileShape(Struct, frozen=True, kw_only=True):
    """``[[start_up.files]]``."""

    path: Inside
    parts: tuple[TextPartShape, ...]


class StartUpShape(Struct, frozen=True, kw_only=True):
    """``[start_up]``."""

    entry: ClassName
    monitored: MonitoredShape
    files: tuple[GeneratedFileShape, ...]


class DriverShape(WorkloadShape, frozen=True, kw_only=True):
    """The whole file of a program that makes its calls itself."""

    monitored: MonitoredShape
    warm_up: WarmUpShape
    offers: OffersShape
    threads: OwnThreadsShape = OwnThreadsShape()
    start_up: StartUpShape | None = None


PARAMETERS = TreeParametersShape
WORKLOAD = DriverShape


def typed_parameters(
    options: TypedParameters, rate: str | None, calls: int | None, offers: Offers | None, report: Report
) -> Said:
    """Depth and threads, and so many calls as are due in three seconds; at full speed 200,000."""
    del offers
    speed: Rate = read_one(FULL if rate is None else rate, CallRate, "--rate", report) or FULL
    if calls is None:
        calls = CALLS_AT_FULL_SPEED if speed == FULL else max(1, round(SECONDS_AT_A_RATE * speed))
    said: dict[str, Any] = {
        "calls": read_one(calls, Calls, "--calls", report),
        "depth": read_one(DEPTH if options.depth is None else options.depth, Depth, "--depth", report),
        "rate": speed,
        "threads": read_one(1 if options.threads is None else options.threads, Threads, "--threads", report),
    }
    if not report.problems and said["threads"] > said["calls"]:
        report.add("--threads", f"is more than the {said['calls']:,} calls: a thread would have nothing to call")
    return {key: (value,) for key, value in said.items()}


def typed_title(said: Said) -> str:
    """Rate and depth."""
    parameters = parameters_of({key: level for key, (level,) in said.items()})
    return f"{KIND.speed(parameters)}, depth {parameters.depth}"


def completed(said: Said, offers: Offers) -> Said:
    """Where nobody says how to wait, callers wait in the first way that the program offers."""
    return said if "wait" in said else {**said, "wait": offers.wait[:1]}


def check_levels(said: Said, offers: Offers | None, report: Report) -> None:
    """Report parameters that do not go together."""
    del offers
    if max(said.get("start_up_monitored", (0,))) > min(said.get("start_up_methods", (0,))):
        report.add("parameters.start_up_monitored", "is more than start_up_methods, of which it is a part")
    if max(said.get("threads", (1,))) > min(said.get("calls", (1,))):
        report.add("parameters.threads", "is more than calls: a thread would have nothing to call")
    if any(said.get("start_up_built", ())) and not min(said.get("start_up_methods", (0,))):
        report.add("parameters.start_up_built", "has nothing to build: say in start_up_methods how many methods")


def parameters_of(level: Mapping[str, Any]) -> TreeParameters:
    """The parameters that one level of every key means."""
    others = {key: value for key, value in level.items() if key != "method_time"}
    return TreeParameters(method_time_ns=level.get("method_time", 0), **others)


def shown(key: str, level: Any) -> str:
    """How long the leaf works, in the largest unit of which it is a whole number."""
    if key != "method_time":
        return ""
    unit = next(name for name in ("h", "min", "s", "ms", "us", "ns") if level % TIME[name] == 0)
    return f"{level // TIME[unit]} {unit}" if level else "0 ns"


def lacking(parameters: TreeParameters, workload: Workload) -> Iterator[str]:
    """What parameters ask for that a workload does not offer, in words."""
    offers = workload.offers
    if parameters.threads > offers.threads_max:
        yield f"threads = {parameters.threads:,}, and at most {offers.threads_max:,} can call"
    if parameters.rate != FULL and parameters.wait not in offers.wait:
        yield f'wait = "{parameters.wait}", and it can wait by {one_of(offers.wait)}'
    if parameters.start_up_methods and workload.start_up is None:
        yield f"start_up_methods = {parameters.start_up_methods:,}, and it has no [start_up]"


def environment_names(said: DriverShape) -> tuple[str, ...]:
    """None of its own."""
    del said
    return ()


def check_workload(said: DriverShape, report: Report) -> None:
    """Report what is wrong in the keys of a program that makes its calls itself."""
    if not said.offers.wait and not report.concerns("offers"):
        report.add("offers.wait", "is an empty list: how can a caller wait for the next start?")
    if said.start_up:
        _check_generated(said.start_up, report)


def completed_workload(workload: Workload, said: DriverShape) -> Workload:
    """A workload with what the keys of a program say that makes its calls itself."""
    start_up = said.start_up
    return replace(
        workload,
        monitored=_monitored(said.monitored),
        least_warm_up_calls=said.warm_up.least_calls,
        offers=Offers(said.offers.threads_max, said.offers.wait),
        threads=ThreadNames(caller=said.threads.caller, own=said.threads.own),
        start_up=StartUp(start_up.entry, _monitored(start_up.monitored), tuple(map(_generated, start_up.files)))
        if start_up
        else None,
    )


def _check_generated(said: StartUpShape, report: Report) -> None:
    paths = [file.path for file in said.files]
    for index, file in enumerate(said.files):
        if file.path in paths[:index]:
            report.add(f"start_up.files[{index}].path", f'there are two files by the name of "{file.path}"')
    repeated = {part.each for file in said.files for part in file.parts}
    lacking = [kind for kind in ("monitored", "unmonitored") if kind not in repeated]
    if lacking and not report.concerns("start_up"):
        report.add("start_up.files", f"has no part for each method that is {' or '.join(lacking)}")


def _generated(said: GeneratedFileShape) -> GeneratedFile:
    return GeneratedFile(said.path, tuple(TextPart(part.text, part.each or "") for part in said.parts))


def _monitored(said: MonitoredShape) -> Monitored:
    return Monitored(said.class_name, said.simple_class, said.method)
