"""A service of the user's: what was typed of it, and the workload that it is measured as."""

import ipaddress
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from cyclopts import Parameter
from msgspec import Struct, field
from msgspec.structs import replace

from tracetax.catalog.agent_file import EveryAgent
from tracetax.catalog.agent_shape import UrlPath
from tracetax.catalog.kinds.requests import LEAST_WARM_UP, LISTEN
from tracetax.catalog.own.load import load_of
from tracetax.catalog.own.requests import names_of, requests_of
from tracetax.catalog.reading import Name, Report, Text, did_you_mean, one_of, read, read_one
from tracetax.catalog.runtime_file import FOLDER, sound_runtimes
from tracetax.catalog.settings import option
from tracetax.catalog.units import Duration, duration
from tracetax.catalog.workload_file import MeasuredProgram
from tracetax.errors import UserError
from tracetax.kinds.requests import RequestParameters, reduced
from tracetax.model import AS_BUILT, Agent, Part
from tracetax.parameters import Offers
from tracetax.program import Runtime, Service, Workload
from tracetax.service import Objective, OwnService, Sent

KIND = "requests"
PORT = "{port}"
READY_WITHIN_NS = 120 * 10**9
LONGEST_TITLE = 60
QUANTILES: Mapping[str, Any] = {"p50": "median", "median": "median", "p90": "p90", "p99": "p99", "p99.9": "p99_9"}
"""As people write them, and as measures call them."""
_OBJECTIVE = re.compile(r"(\S+)\s*<\s*(.+)")
_Other: TypeAlias = Annotated[tuple[str, ...], Parameter(name="--service-with", negative="", show_default=False)]


@dataclass(frozen=True, kw_only=True)
class TypedService:
    """A service of the user's; None is what was not typed."""

    service: str | None = option(
        None,
        "A service of yours: the command that starts it, with {port} where its port stands, such as "
        "'java -jar shop.jar --server.port={port}'. It is started with and without each agent, and never changed "
        "(docs/measure-your-service.md).",
    )
    url: str | None = option(
        None, "With --service: what is requested, such as 'http://127.0.0.1:{port}/orders?of=7'. Loopback only."
    )
    requests: Path | None = option(
        None,
        "With --service: a file with a request on each line, as JSON: path, and if need be method, headers, body, "
        "status, weight and name. --url then says the port alone.",
    )
    ready: str | None = option(
        None, "With --service: the path that is answered with 200 to 299 once it is ready. Default: that of --url."
    )
    ready_within: str | None = option(
        None, "With --service: how long it may take until then, such as 5min. Default: 2min."
    )
    language: str | None = option(
        None, "With --service: java, node, python or go. Default: that of the process that listens on the port."
    )
    slo: str | None = option(
        None,
        "Of a service: an objective for response times, such as 'p99 < 50 ms': does it hold with each agent? With "
        "capacity: up to which rate?",
    )
    each_instrumentation: Annotated[bool, Parameter(negative="")] = option(
        False,
        "With --service: measure it also with each instrumentation off that makes spans of a request, one at a time: "
        "what does each cost? The agent's file must say how they are switched.",
    )
    before: str | None = option(
        None,
        "With --service: a command that is run before each start, such as one that lays its data. {port} in it is the "
        "service's.",
    )
    after: str | None = option(None, "With --service: a command that is run after each end, whatever came of it.")
    load: str | None = option(
        None,
        "With --service: a load of yours that sends the measured requests, k6 or oha: 'oha -z {seconds}s -q {rate} "
        "{url}'. Its placeholders are {url}, {port}, {rate}, {seconds} and {requests}; all its requests go to --url.",
    )
    service_with: _Other = option(
        (),
        "With --service: AGENT=COMMAND starts another program for an agent that is built into it, as in Go. May be "
        "given once for each agent.",
    )


OPTIONS = (
    *("url", "requests", "ready", "ready_within", "language", "slo", "each_instrumentation"),
    *("before", "after", "load", "service_with"),
)
"""Options that mean something beside ``--service`` only."""


class ServiceTable(Struct, frozen=True, kw_only=True):
    """``[service]`` in an experiment's file: what is typed otherwise, ``command`` for ``--service``."""

    command: Text
    url: Text
    requests: Text | None = None
    ready: Text | None = None
    ready_within: Text | None = None
    language: Name | None = None
    slo: Text | None = None
    each_instrumentation: bool = False
    before: Text | None = None
    after: Text | None = None
    load: Text | None = None
    other: dict[Name, Text] = field(default={}, name="with")


class ServiceDocument(Struct, frozen=True, kw_only=True):
    """As much of an experiment's file as says which service it measures."""

    service: ServiceTable


def read_service(typed: TypedService, directory: Path, report: Report) -> OwnService | None:
    """What was typed of a service, its language and what runs it unknown yet; None where problems were reported."""
    words = _words(typed.service or "", "--service", report)
    url = _url(typed.url, report)
    sent = requests_of(typed.requests, url, report)
    objective = objective_of(typed.slo, report) if typed.slo is not None else None
    others = _others(typed.service_with, report)
    before, after = (
        () if text is None else _words(text, key, report)
        for key, text in (("--before", typed.before), ("--after", typed.after))
    )
    load = load_of(typed.load, len(sent), report)
    ready = "/"
    within_ns: int = READY_WITHIN_NS
    if typed.ready_within is not None:
        within_ns = read_one(typed.ready_within, Duration, "--ready-within", report) or READY_WITHIN_NS
    if url and sent:
        first = next(iter(sent))
        ready = _ready(typed.ready, first.path if typed.url and first.method == "GET" else "/", report)
    if report.problems or url is None:
        return None
    port = 0 if _PORT_FREE in (url.netloc or "") else url.port or 80
    takes_any = any(f"{{{LISTEN}}}" in word for word in words)
    if not port and not takes_any:
        report.add("--service", f"must say {PORT} where its port stands, or --url its port: which one does it take?")
    elif port and takes_any:
        report.add("--url", f"must have {PORT} as its port too, as --service has: any free one is taken")
    if report.problems:
        return None
    names = names_of(sent)
    return OwnService(
        start=words,
        directory=str(directory),
        language=typed.language or "",
        program="",
        endpoints={
            name: Sent(one.path, one.method, one.headers, one.body, one.status)
            for name, one in zip(names, sent, strict=True)
        },
        weights={name: one.weight for name, one in zip(names, sent, strict=True)},
        ready_path=ready,
        ready_within_ns=within_ns,
        port=port,
        objective=objective,
        with_agent=others,
        before=before,
        after=after,
        each_instrumentation=typed.each_instrumentation,
        load=load,
    )


def service_of_file(table: object, folder: Path, report: Report) -> OwnService | None:
    """What ``[service]`` of an experiment's file in ``folder`` says; None where problems were reported."""
    said = read({"service": table}, ServiceDocument, report).service
    if report.problems:
        return None
    typed = TypedService(
        service=said.command,
        url=said.url,
        requests=folder / said.requests if said.requests else None,
        ready=said.ready,
        ready_within=said.ready_within,
        language=said.language,
        slo=said.slo,
        each_instrumentation=said.each_instrumentation,
        before=said.before,
        after=said.after,
        load=said.load,
        service_with=tuple(f"{agent}={command}" for agent, command in said.other.items()),
    )
    own = Report(report.file)
    service = read_service(typed, folder, own)
    keys = {"--service": "command", "--service-with": "with"}
    for problem in own.problems:
        option, space, rest = problem.key.partition(" ")
        key = keys.get(option, option.removeprefix("--").replace("-", "_"))
        report.add(f"service.{key}{space}{rest}", problem.text)
    return service


_PORT_FREE = ":00000"
"""Stands in an address for ``{port}`` while it is taken apart: no port is so written."""


def _words(text: str, key: str, report: Report) -> tuple[str, ...]:
    """The words of a command, as a shell would split them, with the placeholder of its port."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        report.add(key, f"cannot be split into words: {error}")
        return ()
    if not words:
        report.add(key, "is empty: it must be a command")
    return tuple(word.replace(PORT, f"{{{LISTEN}}}") for word in words)


def _url(typed: str | None, report: Report) -> SplitResult | None:
    """The address; anything but loopback is refused. ``{port}`` stays in it as ``_PORT_FREE``."""
    if typed is None:
        report.add("--url", f"is missing: what is requested? For example 'http://127.0.0.1:{PORT}/'")
        return None
    url = urlsplit(typed.replace(f":{PORT}", _PORT_FREE))
    host = url.hostname or ""
    if url.scheme != "http":
        report.add("--url", f'"{typed}" must begin with http://: services are called on this machine, without TLS')
    elif not _is_loopback(host):
        report.add("--url", f'"{host}" is not this machine: only 127.0.0.1 and localhost are called')
    elif PORT in typed and _PORT_FREE not in url.netloc:
        report.add("--url", f"has {PORT} in another place than the port's")
    else:
        try:
            _ = 0 if _PORT_FREE in url.netloc else url.port
        except ValueError as error:
            report.add("--url", f'"{typed}": {error}')
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False


def _ready(typed: str | None, otherwise: str, report: Report) -> str:
    if typed is None:
        return otherwise
    path = typed if typed.startswith("/") else urlsplit(typed.replace(f":{PORT}", _PORT_FREE)).path or "/"
    return str(read_one(path, UrlPath, "--ready", report) or otherwise)


def objective_of(typed: str, report: Report) -> Objective | None:
    """An objective such as ``p99 < 50 ms``."""
    match = _OBJECTIVE.fullmatch(typed.strip())
    if not match or match[1] not in QUANTILES:
        report.add("--slo", f"\"{typed}\" must be one of {', '.join(QUANTILES)}, below a time: 'p99 < 50 ms'")
        return None
    try:
        return Objective(QUANTILES[match[1]], duration(match[2]), f"{match[1]} < {match[2].strip()}")
    except UserError as error:
        report.add("--slo", str(error))
        return None


def _others(typed: tuple[str, ...], report: Report) -> dict[str, tuple[str, ...]]:
    """Commands by the agents that are built into them."""
    others: dict[str, tuple[str, ...]] = {}
    for text in typed:
        agent, equals, command = text.partition("=")
        if not equals or agent in others:
            report.add("--service-with", f'must be AGENT=COMMAND, each agent once, not "{text}"')
        else:
            others[agent] = _words(command, f"--service-with {agent}", report)
    return others


def service_runtime(service: OwnService, runtimes: Mapping[str, Runtime]) -> Runtime:
    """What runs a service: that of its language, without settings, for its command says them. Raises UserError."""
    languages = {language: runtime for runtime in runtimes.values() for language in runtime.languages}
    if service.language not in languages:
        hint = did_you_mean(service.language, languages) or f". There is {one_of(languages)}"
        raise UserError(f'--language: "{service.language}" is no language{hint}')
    return replace(languages[service.language], settings={}, shared_flags=(), timed_flags=())


def service_workload(service: OwnService, runtime: Runtime, files: Path) -> Workload:
    """The workload that a service is measured as. ``files`` is the folder beside the runtime's file."""
    return Workload(
        key=f"{KIND}/{service.language}",
        title=_title(service.start),
        runtime=runtime.key,
        start=service.start,
        environment={name: text.replace("{runtime.files}", str(files)) for name, text in runtime.attach.items()},
        least_warm_up_calls=LEAST_WARM_UP,
        offers=Offers(threads_max=1, wait=(), endpoints=tuple(service.endpoints)),
        process_tree=True,
        service=Service(
            endpoints=service.endpoints,
            ready_path=service.ready_path,
            ready_within_ns=service.ready_within_ns,
            port=service.port,
        ),
        directory=service.directory,
        own=True,
        started_with=service.with_agent,
        before=service.before,
        after=service.after,
    )


def _title(start: tuple[str, ...]) -> str:
    """The words by which a reader knows a command: without folders, and without what says its port."""
    port = f"{{{LISTEN}}}"
    shown = [
        word.rpartition("/")[2] or word
        for word, following in zip(start, (*start[1:], ""), strict=True)
        if port not in word and not (word.startswith("-") and following == port)
    ]
    title = " ".join(shown)
    return title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE]}…"


def service_program(service: OwnService, root: Path) -> tuple[Workload, Runtime]:
    """A service as a workload, and what runs it. Raises UserError where its language is none."""
    runtime = service_runtime(service, sound_runtimes(root))
    return service_workload(service, runtime, root / FOLDER / runtime.key / "files"), runtime


def mix_to_type(service: OwnService) -> str:
    """Its endpoints as ``--endpoint`` takes them."""
    return ",".join(f"{sent.endpoint}={sent.weight}" for sent in reduced(service.weights))


def program_of_service(service: OwnService, agents: EveryAgent, root: Path) -> MeasuredProgram:
    """A service whose language is known, as a program that an experiment measures."""
    workload, runtime = service_program(service, root)
    known = agents.of(service.language, KIND)
    return MeasuredProgram(key=workload.key, runtime=runtime, known=known, offers=workload.offers)


def with_nothing_learned(parts: tuple[Part, ...], load: tuple[str, ...] = ()) -> tuple[Part, ...]:
    """Parts of which it is still to be learned how many records a request makes; ``load`` sends their requests."""
    return tuple(
        replace(part, parameters=replace(part.parameters, learned=(), tool=load))
        for part in parts
        if isinstance(part.parameters, RequestParameters)
    )


def for_service(agent: Agent, service: OwnService) -> Agent:
    """An agent as it gets into a service: by the search path that its file has for one.

    Where the service has another program with the agent in it, it comes by its environment alone.
    """
    built_in = agent.key in service.with_agent
    configurations = {
        name: replace(config, program="", wrapper=(), flags=(), search_path=AS_BUILT)
        if built_in
        else replace(config, search_path=config.own_search_path or config.search_path)
        for name, config in agent.configurations.items()
    }
    return replace(agent, configurations=configurations)
