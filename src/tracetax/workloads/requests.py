"""Requests: what the load is told, and what it leaves."""

import re
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog.placeholders import fill
from tracetax.kinds.requests import RequestParameters
from tracetax.parameters import FULL
from tracetax.printable import printable
from tracetax.program import Service, Workload
from tracetax.results.records import Verdict
from tracetax.service import Sent
from tracetax.words import plural, share, was
from tracetax.workloads import driver_output
from tracetax.workloads.driver import CALLS_FAILED, WorkloadFailed
from tracetax.workloads.kinds import DriverFiles, Measured

MISSED_FROM = 0.01
"""Share of the requests that the load itself sent late from which a trial is marked."""
OTHER_RATE_FROM = 0.05
"""Share of the rate that is said by which the user's own load may send more or less."""
BUSY_CORES = 0.6
"""CPU of the load, in cores, from which it may have been what was measured."""
SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""What means something in the load's patterns. A space does not, and is shown as it is."""
FAILED = {
    "wrong": "answered wrongly",
    "timed_out": "not answered in time",
    "refused": "refused a connection",
    "broken": "cut off",
    "unsent": "not sent, because no connection was free in time",
}
"""How a request can fail, by the load's word for it."""


class SentTo(Struct, frozen=True):
    """What came of the requests to an endpoint, of the load's ``trial.json``."""

    name: str
    requests: int
    outcomes: dict[str, int]
    first_failures: dict[str, str] = {}


class Punctuality(Struct, frozen=True):
    """How punctual the requests were sent."""

    missed: int
    waited: int


class LoadAccount(Struct, frozen=True):
    """What the load alone says of its requests, of its ``trial.json``."""

    core_share: float
    endpoints: tuple[SentTo, ...]
    starts: Punctuality | None = None
    unsent_by_tool: int = 0
    """What the user's own load says that it could not send."""
    rate_by_tool: float = 0.0
    """Requests per second that it sent; 0 where it is Tracetax's."""


class LoadOutput(Struct, frozen=True):
    """The load's ``trial.json`` as far as other drivers' has no such thing."""

    load: LoadAccount


def arguments(parameters: RequestParameters, files: DriverFiles, workload: Workload) -> tuple[str, ...]:
    """The load's options; what it sends stands in a file beside its output."""
    service = workload.service
    assert service
    requests = files.output.with_name("requests.jsonl")
    lines = [
        msgspec.json.encode(
            {
                "name": sent.endpoint,
                **_sent(service.endpoints[sent.endpoint], None if workload.own else parameters.queries),
                "weight": sent.weight,
            }
        )
        for sent in parameters.mix
    ]
    requests.write_bytes(b"\n".join(lines) + b"\n")
    return (
        *("--url", f"http://127.0.0.1:{files.port}"),
        *("--requests", str(requests)),
        *("--calls", str(parameters.calls)),
        *("--rate", FULL if parameters.rate == FULL else f"{parameters.rate!r}"),
        *("--arrivals", parameters.arrivals),
        *("--connections", str(parameters.connections)),
        *("--ready", service.ready_path),
        *("--ready-within", f"{service.ready_within_ns}ns"),
        *("--out", str(files.output)),
        *("--status", str(files.status)),
        *(("--tool", _tool(parameters, files, service)) if parameters.tool else ()),
    )


def _tool(parameters: RequestParameters, files: DriverFiles, service: Service) -> str:
    """The words of the user's own load, as JSON, with their placeholders filled."""
    (sent,) = service.endpoints.values()
    rate = parameters.rate
    values = {
        "url": f"http://127.0.0.1:{files.port}{sent.path}",
        "port": str(files.port),
        "rate": FULL if rate == FULL else f"{rate:.15g}",
        "seconds": "10" if rate == FULL else f"{max(1.0, parameters.calls / rate):.15g}",
        "requests": str(parameters.calls),
    }
    words = [fill(word, values) for word in parameters.tool]
    return msgspec.json.encode(words).decode()


def _sent(sent: Sent, queries: int | None) -> dict[str, object]:
    """A request as the load's file has it; what holds unless it is said is left out.

    ``queries`` fills the placeholder of that name; None where a path has no placeholders.
    """
    said = {"method": sent.method, "headers": sent.headers, "body": sent.body, "status": sent.status}
    otherwise = Sent("")
    contains = {"pattern": SPECIAL.sub(r"\\\g<0>", sent.contains)} if sent.contains else {}
    return {
        "path": sent.path if queries is None else sent.path.replace("{queries}", str(queries)),
        **{key: value for key, value in said.items() if value != getattr(otherwise, key)},
        **contains,
    }


def collect(scratch: Path, trial: int, parameters: RequestParameters) -> Measured:
    """Read what the load wrote under ``scratch``, reduce it to Parquet there, drop the raw samples.

    Raises WorkloadFailed where the output is missing, broken or not what was asked for.
    """
    load = read_load(scratch / "workload")
    check_mix(load, parameters)
    measured = driver_output.collect(scratch, trial, parameters)
    # what the load knows of itself, its heap and its clocks, is nothing of the service's
    return replace(
        measured,
        callers_cpu_ns=0,
        allocated_bytes_per_call=None,
        heap=None,
        snapshots={},
        jvm_flags="",
        versions={},
        verdicts=tuple(verdicts_of(load, parameters)),
    )


def read_load(folder: Path) -> LoadAccount:
    """The load's own part of ``trial.json``. Raises WorkloadFailed where it is missing or broken."""
    try:
        return msgspec.json.decode((folder / "trial.json").read_bytes(), type=LoadOutput).load
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WorkloadFailed("output-broken", f"the load left no readable trial.json: {error}") from None


def check_mix(load: LoadAccount, parameters: RequestParameters) -> None:
    """Raise WorkloadFailed where the requests went elsewhere than they should: records are expected by where."""
    cycles = parameters.calls // parameters.cycle
    due = {sent.endpoint: sent.weight * cycles for sent in parameters.mix}
    went = {sent.name: sent.requests for sent in load.endpoints}
    if went != due:
        raise WorkloadFailed("output-broken", f"the load sent {went} where {due} was asked for")


def _is_about(sent: float, said: float) -> bool:
    return abs(sent - said) <= OTHER_RATE_FROM * said


def verdicts_of(load: LoadAccount, parameters: RequestParameters) -> list[Verdict]:
    """What the load's account says: a trial in which a request failed is none."""
    verdicts: list[Verdict] = []
    for outcome, words in FAILED.items():
        failed = [sent for sent in load.endpoints if sent.outcomes.get(outcome)]
        if count := sum(sent.outcomes[outcome] for sent in failed):
            first = next((sent for sent in failed if outcome in sent.first_failures), None)
            why = f". The first, to {first.name}: {printable(first.first_failures[outcome])}" if first else ""
            text = f"{share(count, parameters.calls, 'request')} {was(count)} {words}{why}"
            verdicts.append(Verdict(CALLS_FAILED, "error", text))
    if load.starts and load.starts.missed - load.starts.waited > MISSED_FROM * parameters.calls:
        late = load.starts.missed - load.starts.waited
        text = f"the load sent {share(late, parameters.calls, 'request')} later than it should, by its own doing"
        verdicts.append(Verdict("load-late", "warning", text))
    if load.unsent_by_tool:
        text = f"the load dropped {plural(load.unsent_by_tool, 'request')} that {was(load.unsent_by_tool)} due"
        verdicts.append(Verdict("load-dropped", "warning", text))
    if load.rate_by_tool and parameters.rate != FULL and not _is_about(load.rate_by_tool, parameters.rate):
        text = f"the load sent {load.rate_by_tool:,.4g} requests/s, and --rate says {parameters.rate:,g}"
        verdicts.append(Verdict("other-rate", "warning", text))
    if load.core_share > BUSY_CORES:
        text = f"the load used {load.core_share:.2f} cores: it may be what was measured, and not the service"
        verdicts.append(Verdict("load-busy", "warning", text))
    return verdicts
