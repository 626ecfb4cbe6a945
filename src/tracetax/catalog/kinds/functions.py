"""How files say what belongs to functions: ``[parameters]``, and the ``workload.toml`` of functions."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from tracetax.catalog import units
from tracetax.catalog.kinds import ParametersShape, TypedParameters
from tracetax.catalog.kinds.requests import LISTEN, RATE
from tracetax.catalog.reading import Name, Positive, Report, Text, did_you_mean, join, one_of, read_one
from tracetax.catalog.settings import Said
from tracetax.catalog.units import CallRate, UnitError
from tracetax.catalog.workload_file import WorkloadShape
from tracetax.kinds.functions import CONCURRENT, INVOCATIONS, KIND, FunctionParameters, PageCache, Price
from tracetax.kinds.requests import Arrivals, Weighted
from tracetax.parameters import FULL, Offers, Rate
from tracetax.program import Service, Workload
from tracetax.service import Sent

DRIVES = False
HOSTED = True
NEEDED = ("function",)
CALLS = "invocations"
OPTIONS = ("function", "host", "concurrent", "cold", "frozen", "page_cache", "memory", "cpu")
LEAST_WARM_UP = 200
"""Invocations before which a host never counts as warm."""
IN_ENVIRONMENT = (LISTEN, "function", "marks")
"""Placeholders of variables: the port, the function's name, and the file of a cold start's moments."""
JSON = {"Content-Type": "application/json"}
ORDERLY = "no"
"""Of ``frozen``: the host ends in order."""
LEAST_MEMORY = 16 << 20
SECONDS_AT_A_RATE = 30
"""Length of a trial at a rate where nobody says how many invocations it makes."""


def frozen_time(value: object) -> int | None:
    """Read ``"5 s"``, or ``"no"``: how long a host is frozen after its last answer before it is killed."""
    return None if value == ORDERLY else units.duration(value)


def memory_limit(value: object) -> int:
    """Read ``"256 MiB"``, or 0 for no limit."""
    if value in (0, "0"):
        return 0
    amount = units.size(value)
    if amount < LEAST_MEMORY:
        raise UnitError(f'"{value}" is too little for a host: at least "16 MiB" is allowed, or 0 for no limit')
    return amount


def cpu_limit(value: object) -> float:
    """Read ``"25 % of 1 core"``, or 0 for no limit, in cores."""
    return 0.0 if value in (0, "0") else units.usage(value).busy


def money(value: object) -> float:
    """Read an amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise UnitError(f"must be an amount of money that is not below 0, not {value}")
    return float(value)


Invocations: TypeAlias = Annotated[int, Meta(ge=1, le=20_000_000)]
Concurrent: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]
Frozen: TypeAlias = Annotated[int, Meta(extra={"read": frozen_time})]
Memory: TypeAlias = Annotated[int, Meta(extra={"read": memory_limit})]
Cpu: TypeAlias = Annotated[float, Meta(extra={"read": cpu_limit})]
Money: TypeAlias = Annotated[float, Meta(extra={"read": money})]
Mode: TypeAlias = Literal["warm", "cold"]


class PriceShape(Struct, frozen=True, kw_only=True):
    """``price = { per_gb_second = 0.0000166667, per_million = 0.20, currency = "USD", source = "…" }``."""

    per_gb_second: Money
    per_million: Money
    currency: Text
    source: Text


class FunctionParametersShape(ParametersShape, frozen=True, kw_only=True):
    """``[parameters]``: one value or a list of them, which makes a factor; None where the key is not given."""

    function: Annotated[tuple[Name, ...], Meta(extra={"factor": True})] | None = None
    host: Annotated[tuple[Name, ...], Meta(extra={"factor": True})] | None = None
    mode: Annotated[tuple[Mode, ...], Meta(extra={"factor": True})] | None = None
    invocations: Annotated[tuple[Invocations, ...], Meta(extra={"factor": True})] | None = None
    rate: Annotated[tuple[CallRate, ...], Meta(extra={"factor": True})] | None = None
    arrivals: Annotated[tuple[Arrivals, ...], Meta(extra={"factor": True})] | None = None
    concurrent: Annotated[tuple[Concurrent, ...], Meta(extra={"factor": True})] | None = None
    frozen: Annotated[tuple[Frozen, ...], Meta(extra={"factor": True})] | None = None
    page_cache: Annotated[tuple[PageCache, ...], Meta(extra={"factor": True})] | None = None
    memory: Annotated[tuple[Memory, ...], Meta(extra={"factor": True})] | None = None
    cpu: Annotated[tuple[Cpu, ...], Meta(extra={"factor": True})] | None = None
    price: Annotated[tuple[PriceShape, ...], Meta(extra={"factor": True})] | None = None


class FunctionShape(Struct, frozen=True, kw_only=True):
    """``[functions.<name>]``."""

    event: Text
    expects: Text
    stores: tuple[Name, ...] = ()
    warm_up: Positive = LEAST_WARM_UP
    """Invocations before which a host of it never counts as warm."""


class FunctionsShape(WorkloadShape, frozen=True, kw_only=True):
    """The whole file of functions, whose hosts say how they are started."""

    start: tuple[Text, ...] = ()
    functions: dict[Name, FunctionShape]
    end: Literal["TERM", "INT"] = "TERM"


PARAMETERS = FunctionParametersShape
WORKLOAD = FunctionsShape


def typed_parameters(
    options: TypedParameters, rate: str | None, calls: int | None, offers: Offers | None, report: Report
) -> Said:
    """One function of one host, for thirty seconds at a rate; at full speed 10,000 invocations, and cold one."""
    speed: Rate = read_one(RATE if rate is None else rate, CallRate, "--rate", report) or FULL
    if calls is None:
        calls = INVOCATIONS if speed == FULL else max(1, round(SECONDS_AT_A_RATE * speed))
    if options.cold and rate is not None:
        report.add("--rate", "goes without --cold: a cold start is one invocation")
    if options.function is None:
        report.add(
            "--function", f"is missing: it says what is invoked. There is {one_of(offers.endpoints if offers else ())}"
        )
    said: dict[str, Any] = {
        "function": options.function,
        "mode": "cold" if options.cold else "warm",
        "invocations": read_one(calls, Invocations, "--calls", report),
        "rate": speed,
        "host": options.host or (offers.hosts[0] if offers and offers.hosts else ""),
    }
    for name, shape in (("concurrent", Concurrent), ("frozen", Frozen), ("memory", Memory), ("cpu", Cpu)):
        if (typed := getattr(options, name)) is not None:
            said[name] = read_one(typed, shape, f"--{name}", report)
    if options.page_cache is not None:
        said["page_cache"] = read_one(options.page_cache, PageCache, "--page-cache", report)
    levels = {key: (value,) for key, value in said.items()}
    names = Report(report.file)
    check_levels(levels, offers, names)
    for problem in names.problems:
        option = problem.key.removeprefix("parameters.").replace("_", "-")
        if said.get(option.replace("-", "_")) is not None:
            report.add(f"--{option}", problem.text)
    return levels


def typed_title(said: Said) -> str:
    """The function, and how it is invoked."""
    parameters = parameters_of({key: level for key, (level,) in said.items()})
    return f"the function {parameters.function}, {KIND.speed(parameters)}"


def completed(said: Said, offers: Offers) -> Said:
    """Where nobody says which host, it is the first."""
    return said if "host" in said or not offers.hosts else {**said, "host": offers.hosts[:1]}


def check_levels(said: Said, offers: Offers | None, report: Report) -> None:
    """Report functions and hosts that there are not, and what goes with the other mode only."""
    for key, known in (("function", offers.endpoints), ("host", offers.hosts)) if offers else ():
        for name in said.get(key, ()):
            if name is not None and name not in known:
                report.add(
                    f"parameters.{key}",
                    f'"{name}" is no {key}{did_you_mean(name, known) or f". There is {one_of(known)}"}',
                )
    modes = said.get("mode", ("warm",))
    if "warm" in modes and "invocations" not in said:
        report.add("parameters.invocations", "is missing")
    if "warm" in modes and "dropped" in said.get("page_cache", ()):
        report.add("parameters.page_cache", 'goes with mode = "cold": a warm host has its files in memory')


def parameters_of(level: Mapping[str, Any]) -> FunctionParameters:
    """The parameters that one level of every key means."""
    cold = level.get("mode") == "cold"
    price: PriceShape | None = level.get("price")
    return FunctionParameters(
        calls=1 if cold else level["invocations"],
        rate=FULL if cold else level.get("rate", FULL),
        mix=(Weighted(level["function"], 1),),
        connections=1 if cold else level.get("concurrent", CONCURRENT),
        arrivals=level.get("arrivals", "fixed"),
        host=level.get("host", ""),
        cold=cold,
        frozen_ns=level.get("frozen"),
        page_cache=level.get("page_cache", "warm"),
        memory_bytes=level.get("memory", 0),
        cores=level.get("cpu", 0.0),
        price=Price(price.per_gb_second, price.per_million, price.currency, price.source) if price else Price(),
    )


def shown(key: str, level: Any) -> str:
    """What becomes of the host, its limits and its price."""
    if key == "frozen":
        return "in no way" if level is None else f"{level / 1e9:g} s"
    if key == "memory":
        return units.written(level) if level else "unlimited"
    if key == "cpu":
        return f"{level:g} cores" if level else "unlimited"
    return level.source if key == "price" else ""


def lacking(parameters: FunctionParameters, workload: Workload) -> Iterator[str]:
    """What parameters ask for that a workload does not offer, in words."""
    if parameters.function not in workload.offers.endpoints:
        yield f'function = "{parameters.function}", and it has {one_of(workload.offers.endpoints)}'
    if parameters.host not in workload.hosts:
        yield f'host = "{parameters.host}", and it has {one_of(tuple(workload.hosts))}'


def check_workload(said: FunctionsShape, report: Report) -> None:
    """Report what is wrong in the keys of functions."""
    if said.start:
        report.add("start", "goes without hosts: each host says in its host.toml how it is started")
    if not said.functions and not report.concerns("functions"):
        report.add("functions", "is empty: what can be invoked?")
    for name, function in said.functions.items():
        try:
            json.loads(function.event)
        except ValueError as error:
            report.add(join(join("functions", name), "event"), f"is no JSON: {error}")


def environment_names(said: FunctionsShape) -> tuple[str, ...]:
    """Its port, its function, the file of its marks, and where its stores are."""
    return (*IN_ENVIRONMENT, *(f"stores.{name}.url" for name in _stores(said)))


def _stores(said: FunctionsShape) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for function in said.functions.values() for name in function.stores))


def completed_workload(workload: Workload, said: FunctionsShape) -> Workload:
    """A workload with what the keys of functions say; its hosts say the rest."""
    return replace(
        workload,
        least_warm_up_calls=LEAST_WARM_UP,
        offers=Offers(threads_max=1, wait=(), endpoints=tuple(said.functions), hosts=tuple(workload.hosts)),
        service=Service(
            endpoints={
                name: Sent("/", "POST", JSON, function.event, contains=function.expects)
                for name, function in said.functions.items()
            },
            ready_path="",
            ready_within_ns=0,
            end=said.end,
            stores=_stores(said),
            stores_of={name: function.stores for name, function in said.functions.items()},
            warm_up_of={name: function.warm_up for name, function in said.functions.items()},
        ),
    )
