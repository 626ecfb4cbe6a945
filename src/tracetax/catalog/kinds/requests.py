"""How files say what belongs to requests: ``[parameters]``, and the ``workload.toml`` of a service."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, cast

from msgspec import Meta, Struct
from msgspec.structs import replace

from tracetax.catalog.agent_checks import check_names
from tracetax.catalog.agent_shape import UrlPath
from tracetax.catalog.kinds import ParametersShape, TypedParameters
from tracetax.catalog.reading import Name, Positive, Report, did_you_mean, join, one_of, read_one
from tracetax.catalog.settings import Said
from tracetax.catalog.units import CallRate, Duration
from tracetax.catalog.workload_file import WorkloadShape
from tracetax.errors import UserError
from tracetax.kinds.requests import AT_FULL_SPEED, KIND, Arrivals, RequestParameters, Weighted, mix_words, reduced
from tracetax.parameters import FULL, Offers, Rate
from tracetax.program import Service, Workload
from tracetax.service import Sent

DRIVES = False
HOSTED = False
NEEDED = ("requests", "endpoint")
CALLS = "requests"
OPTIONS = ("endpoint", "queries", "connections")
RATE = "100/s"
"""Where no rate is typed: at full speed a load says how busy a service is, and hardly what tracing costs it."""
SECONDS_AT_A_RATE, LONGEST_SECONDS = 10, 30
"""Length of a trial at a rate where nobody says how many requests it makes; the longer where p99 needs it."""
FOR_P99 = 2_000
"""Requests of which ten lie beyond p99, also where the first half of them is left out as unsteady."""
LEAST_WARM_UP = 2_000
"""Requests before which a service never counts as warm, where its file says nothing else."""
IN_PATHS = ("queries",)
"""Placeholders of endpoints: parameters of the same name."""
LISTEN = "listen.port"
"""The placeholder for the port that a service is to listen on, of 127.0.0.1."""


def mix_of(value: object) -> tuple[Weighted, ...]:
    """Read ``"db"``, or ``{ db = 3, json = 1 }``: endpoints with their shares of the requests."""
    if isinstance(value, str) and value.strip():
        return (Weighted(value, 1),)
    if not isinstance(value, dict) or not value:
        raise UserError("must be the name of an endpoint, or several with their shares: { db = 3, json = 1 }")
    weights = cast("dict[str, object]", value)
    for name, weight in weights.items():
        if not isinstance(weight, int) or isinstance(weight, bool) or not 1 <= weight <= 1_000:
            raise UserError(f'"{name}" must have a share that is a whole number between 1 and 1,000, not {weight}')
    return reduced(cast("dict[str, int]", weights))


Requests: TypeAlias = Annotated[int, Meta(ge=1, le=20_000_000)]
Mix: TypeAlias = Annotated[str, Meta(extra={"read": mix_of})]
Queries: TypeAlias = Annotated[int, Meta(ge=1, le=500)]
Connections: TypeAlias = Annotated[int, Meta(ge=1, le=10_000)]


class RequestParametersShape(ParametersShape, frozen=True, kw_only=True):
    """``[parameters]``: one value or a list of them, which makes a factor; None where the key is not given."""

    requests: Annotated[tuple[Requests, ...], Meta(extra={"factor": True})] | None = None
    endpoint: Annotated[tuple[Mix, ...], Meta(extra={"factor": True})] | None = None
    queries: Annotated[tuple[Queries, ...], Meta(extra={"factor": True})] | None = None
    rate: Annotated[tuple[CallRate, ...], Meta(extra={"factor": True})] | None = None
    arrivals: Annotated[tuple[Arrivals, ...], Meta(extra={"factor": True})] | None = None
    connections: Annotated[tuple[Connections, ...], Meta(extra={"factor": True})] | None = None


class ServiceReadyShape(Struct, frozen=True, kw_only=True):
    """``ready = { path = "/json", within = "60 s" }``."""

    path: UrlPath
    within: Duration = 60 * 10**9


class ServiceWarmUpShape(Struct, frozen=True, kw_only=True):
    """``warm_up = { least_requests = 2_000 }``."""

    least_requests: Positive = LEAST_WARM_UP


class ServiceShape(WorkloadShape, frozen=True, kw_only=True):
    """The whole file of a service."""

    endpoints: dict[Name, UrlPath]
    ready: ServiceReadyShape
    end: Literal["TERM", "INT"] = "TERM"
    stores: tuple[Name, ...] = ()
    warm_up: ServiceWarmUpShape = ServiceWarmUpShape()


def typed_mix(value: object) -> tuple[Weighted, ...]:
    """Read ``db``, or ``db=3,json``: endpoints, each with its share of the requests, 1 unless said."""
    shares: dict[str, int] = {}
    for word in str(value).split(","):
        name, equals, share = (text.strip() for text in word.partition("="))
        if not name or name in shares or (equals and not share.isdecimal()):
            raise UserError(f'must be endpoints with commas between, each once, as in db or db=3,json; not "{value}"')
        shares[name] = int(share) if equals else 1
    return mix_of(shares)


TypedMix: TypeAlias = Annotated[str, Meta(extra={"read": typed_mix})]


def typed_parameters(
    options: TypedParameters, rate: str | None, calls: int | None, offers: Offers | None, report: Report
) -> Said:
    """Endpoints, and whole cycles of requests: as many as are due in ten seconds, and at full speed 20,000.

    At low rates it may be thirty seconds, so that p99 can be told.
    """
    endpoints = offers.endpoints if offers else ()
    mix = _typed_endpoints(options.endpoint, endpoints, report)
    cycle = sum(sent.weight for sent in mix) or 1
    speed: Rate = read_one(RATE if rate is None else rate, CallRate, "--rate", report) or FULL
    if calls is None:
        due = AT_FULL_SPEED if speed == FULL else max(SECONDS_AT_A_RATE * speed, min(FOR_P99, LONGEST_SECONDS * speed))
        requests = max(1, -(-round(due) // cycle)) * cycle
    else:
        requests = read_one(calls, Requests, "--calls", report)
        if requests is not None and requests % cycle:
            report.add("--calls", f"must be a multiple of {cycle:,}, the sum of the endpoints' shares")
    said: dict[str, Any] = {"requests": requests, "endpoint": mix, "rate": speed}
    if options.queries is not None:
        said["queries"] = read_one(options.queries, Queries, "--queries", report)
    if options.connections is not None:
        said["connections"] = read_one(options.connections, Connections, "--connections", report)
    return {key: (value,) for key, value in said.items()}


def _typed_endpoints(typed: str | None, endpoints: Sequence[str], report: Report) -> tuple[Weighted, ...]:
    """The endpoints that were typed; every problem is reported."""
    if typed is None:
        report.add("--endpoint", f"is missing: it says what is requested. There is {one_of(endpoints)}")
        return ()
    mix: tuple[Weighted, ...] = read_one(typed, TypedMix, "--endpoint", report) or ()
    for sent in mix:
        if endpoints and sent.endpoint not in endpoints:
            hint = did_you_mean(sent.endpoint, endpoints) or f". There is {one_of(endpoints)}"
            report.add("--endpoint", f'"{sent.endpoint}" is no endpoint{hint}')
    return mix


def typed_title(said: Said) -> str:
    """Rate and endpoints."""
    parameters = parameters_of({key: level for key, (level,) in said.items()})
    to = "to" if parameters.rate != FULL else "by requests to"
    return f"{KIND.speed(parameters)} {to} {mix_words(parameters)}"


PARAMETERS = RequestParametersShape
WORKLOAD = ServiceShape


def completed(said: Said, offers: Offers) -> Said:
    """Nothing depends on the program."""
    del offers
    return said


def check_levels(said: Said, offers: Offers | None, report: Report) -> None:
    """Report endpoints that the service does not have, and numbers of requests that are no whole cycles."""
    mixes: tuple[tuple[Weighted, ...], ...] = said.get("endpoint", ())
    for name in (sent.endpoint for mix in mixes for sent in mix):
        if offers and name not in offers.endpoints:
            hint = did_you_mean(name, offers.endpoints) or f". There is {one_of(offers.endpoints)}"
            report.add("parameters.endpoint", f'"{name}" is no endpoint{hint}')
    for cycle in (sum(sent.weight for sent in mix) for mix in mixes):
        for requests in said.get("requests", ()):
            if requests % cycle:
                text = f"must be a multiple of {cycle:,}, the sum of the endpoints' shares, not {requests:,}"
                report.add("parameters.requests", text)


def parameters_of(level: Mapping[str, Any]) -> RequestParameters:
    """The parameters that one level of every key means."""
    others = {key: value for key, value in level.items() if key not in ("requests", "endpoint")}
    return RequestParameters(calls=level["requests"], mix=level["endpoint"], **others)


def shown(key: str, level: Any) -> str:
    """The endpoints by name."""
    return mix_words(RequestParameters(calls=1, mix=level)) if key == "endpoint" else ""


def lacking(parameters: RequestParameters, workload: Workload) -> Iterator[str]:
    """What parameters ask for that a workload does not offer, in words."""
    for sent in parameters.mix:
        if sent.endpoint not in workload.offers.endpoints:
            yield f'endpoint = "{sent.endpoint}", and it has {one_of(workload.offers.endpoints)}'


def check_workload(said: ServiceShape, report: Report) -> None:
    """Report what is wrong in the keys of a service."""
    if not said.endpoints and not report.concerns("endpoints"):
        report.add("endpoints", "is empty: what can be called?")
    for name, path in said.endpoints.items():
        check_names(join("endpoints", name), path, IN_PATHS, report)
    check_names("ready.path", said.ready.path, (), report)
    if not any(LISTEN in value for value in (*said.environment.values(), *said.start)):
        report.add("environment", f'must say on which port it is to listen, as in LISTEN = "127.0.0.1:{{{LISTEN}}}"')


def environment_names(said: ServiceShape) -> tuple[str, ...]:
    """Its port, and where its stores are."""
    return (LISTEN, *(f"stores.{name}.url" for name in said.stores))


def completed_workload(workload: Workload, said: ServiceShape) -> Workload:
    """A workload with what the keys of a service say."""
    return replace(
        workload,
        least_warm_up_calls=said.warm_up.least_requests,
        offers=Offers(threads_max=1, wait=(), endpoints=tuple(said.endpoints)),
        service=Service(
            endpoints={name: Sent(path) for name, path in said.endpoints.items()},
            ready_path=said.ready.path,
            ready_within_ns=said.ready.within,
            end=said.end,
            stores=said.stores,
        ),
    )
