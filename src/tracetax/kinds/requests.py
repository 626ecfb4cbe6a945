"""Requests: a load sends them to an HTTP service at a rate, each to one of its endpoints."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tracetax.agent import Configuration, Delivery
from tracetax.kinds import Declaration
from tracetax.parameters import FULL, Offers, Parameters, Rate
from tracetax.words import listed_words, plural

Arrivals: TypeAlias = Literal["fixed", "poisson", "bursts"]
"""Evenly, with independent exponential gaps between, or as many at once as there are connections."""

BURST_REQUESTS = 500
"""Of a warm-up, at most."""
AT_FULL_SPEED = 20_000
"""Requests of a trial back to back in the search for the highest rate."""
LONGEST_REQUEST_SECONDS = 0.01
"""Within which a request is over that is sent back to back, on a slow machine."""
LONGEST_TOOL_SECONDS = 3600.0
"""For which a load of the user's own may run."""
START_SECONDS, WARM_UP_SECONDS, END_SECONDS = 3.0, 2.5, 1.0
"""Until it answers, with what it keeps its data in; of its warm-up; and of the end of both."""
QUERIES = 20
LEARNING_REQUESTS = 20
"""Of a trial from which only the number of records is learned."""


class Weighted(Struct, frozen=True):
    """An endpoint, and how many of the requests of a cycle go to it."""

    endpoint: str
    weight: int


class Learned(Struct, frozen=True):
    """How many records a request made when requests were sent one by one."""

    agent: str
    configuration: str
    endpoint: str
    records: int


class RequestParameters(Parameters, frozen=True, kw_only=True, tag="requests"):
    """What is sent to a service, and how; a call is a request."""

    mix: tuple[Weighted, ...]
    """Requests come in cycles: of each endpoint as many as its weight, in random order."""
    queries: int = QUERIES
    """Queries of a request to an endpoint whose path has a place for their number."""
    connections: int = 64
    """Open at once, at most."""
    arrivals: Arrivals = "fixed"
    learned: tuple[Learned, ...] | None = None
    """Of the user's own service, what agents' files cannot declare; None of others."""
    tool: tuple[str, ...] = ()
    """The command of a load of the user's own, with placeholders; empty where Tracetax's load sends the requests."""

    @property
    def calls_vary(self) -> bool:
        """A load of the user's own sends as many as it likes."""
        return bool(self.tool)

    @property
    def cycle(self) -> int:
        """Requests of a cycle: of a whole number of cycles it is known how many went to each endpoint."""
        return sum(sent.weight for sent in self.mix)


def cycle_records(parameters: RequestParameters, config: Configuration) -> int:
    """Records of a cycle of requests; 0 where those of an endpoint are not known."""
    each = [records_of(parameters, config, sent.endpoint) for sent in parameters.mix]
    known = [records for records in each if records is not None]
    return sum(map(int.__mul__, known, (sent.weight for sent in parameters.mix))) if len(known) == len(each) else 0


def records_of(parameters: RequestParameters, config: Configuration, endpoint: str) -> int | None:
    """Records of a request to an endpoint; None where they vary, or nobody knows."""
    if parameters.learned is not None:
        key = (config.agent, config.name, endpoint)
        counts = (one.records for one in parameters.learned if (one.agent, one.configuration, one.endpoint) == key)
        return next(counts, None)
    declared = config.records_per_call.get(endpoint)
    return None if declared is None else declared.fixed + declared.per_query * parameters.queries


class Requests(Declaration[RequestParameters]):
    """What requests declare."""

    parameters = RequestParameters
    unit = "call"
    noun = "request"
    charged_per = "call"
    compared = "response"
    whole_trees = False
    calls_itself = False

    def units(self, parameters: RequestParameters, calls: int) -> int:
        """A request is one."""
        return calls

    def records_made(self, parameters: RequestParameters, config: Configuration, calls: int) -> int:
        """Of whole cycles."""
        return calls * cycle_records(parameters, config) // parameters.cycle

    def records_truncated(self, parameters: RequestParameters, config: Configuration, calls: int) -> int:
        """None: no agent's limit is known to be reached."""
        return 0

    def queue_records(self, parameters: RequestParameters, config: Configuration) -> int | None:
        """What its file says."""
        return config.queue

    def receiver_options(self, parameters: RequestParameters, config: Configuration) -> tuple[str, ...]:
        """Trees are not looked at: requests to several endpoints make trees of several sizes."""
        return "--depth", "0"

    def burst_calls(self, parameters: RequestParameters, config: Configuration, most_records: int) -> int:
        """Whole cycles, one at least."""
        records = cycle_records(parameters, config)
        cycles = BURST_REQUESTS // parameters.cycle
        return max(1, min(cycles, most_records // records) if records else cycles) * parameters.cycle

    def calls_to_whole(self, parameters: RequestParameters, config: Configuration, calls: int, batch: int) -> int:
        """None: what opens connections makes records too, so that nobody knows how full the last batch is."""
        return 0

    def work_ns(self, parameters: RequestParameters) -> int:
        """Nobody asks for any."""
        return 0

    def longest_seconds(self, parameters: RequestParameters) -> float:
        """As long as a slow service takes back to back."""
        return LONGEST_TOOL_SECONDS if parameters.tool else parameters.calls * LONGEST_REQUEST_SECONDS

    def trial_seconds(self, parameters: RequestParameters, config: Configuration | None) -> float:
        """Start, warm-up, requests, flush after each of both, end."""
        full = parameters.rate == FULL
        requests = parameters.calls * 0.3e-3 if full else parameters.calls / float(parameters.rate)
        seconds = START_SECONDS + WARM_UP_SECONDS + requests + END_SECONDS
        if config is None or config.delivery in (Delivery.NONE, Delivery.AGGREGATED):
            return seconds
        return seconds + 2 * config.flush_interval_ns / 1e9

    def sample_bytes(self, parameters: RequestParameters) -> int:
        """None in the service: the load has them."""
        return 0

    def callers_spin(self, parameters: RequestParameters) -> bool:
        """No caller is in the service."""
        return False

    def at_rate(self, parameters: RequestParameters, rate: Rate, seconds: float) -> RequestParameters | None:
        """As many whole cycles as are due in that time, one at least."""
        requests = AT_FULL_SPEED if rate == FULL else round(rate * seconds)
        return replace(parameters, rate=rate, calls=max(1, requests // parameters.cycle) * parameters.cycle)

    def parameters_to_check(self, offers: Offers) -> RequestParameters:
        """Ten seconds, every endpoint in turn."""
        mix = tuple(Weighted(endpoint, 1) for endpoint in offers.endpoints)
        return RequestParameters(calls=100 * len(mix), rate=10.0 * len(mix), mix=mix)

    def sorts(self, parameters: RequestParameters) -> tuple[str, ...]:
        """The endpoints."""
        return tuple(sent.endpoint for sent in parameters.mix)

    def records_of_sort(self, parameters: RequestParameters, config: Configuration, sort: str) -> int | None:
        """Of a request to the endpoint."""
        return records_of(parameters, config, sort)

    def to_learn_from(self, parameters: RequestParameters) -> RequestParameters:
        """A few cycles."""
        cycles = -(-LEARNING_REQUESTS // parameters.cycle)
        return replace(parameters, calls=cycles * parameters.cycle, learned=(), tool=())

    def with_learned(
        self, parameters: RequestParameters, counted: Sequence[tuple[Configuration, Mapping[str, int]]]
    ) -> RequestParameters:
        """Those of each endpoint."""
        learned = tuple(
            Learned(config.agent, config.name, endpoint, records)
            for config, known in counted
            for endpoint, records in known.items()
        )
        return replace(parameters, learned=learned)

    def is_learned(self, parameters: RequestParameters) -> bool:
        """Of the user's own service."""
        return parameters.learned is not None

    def words(self, parameters: RequestParameters) -> str:
        """Requests, endpoints, rate and connections."""
        return f"{plural(parameters.calls, 'request')} to {mix_words(parameters)}, {speed_words(parameters)}"


def mix_words(parameters: RequestParameters) -> str:
    """The endpoints, with the shares of the requests that go to them: ``json``, or ``db (75 %) and json (25 %)``."""
    if len({sent.weight for sent in parameters.mix}) == 1:
        names = listed_words([sent.endpoint for sent in parameters.mix])
        return names if len(parameters.mix) == 1 else f"{names} equally"
    shares = [f"{sent.endpoint} ({100 * sent.weight / parameters.cycle:.3g} %)" for sent in parameters.mix]
    return listed_words(shares)


def speed_words(parameters: RequestParameters) -> str:
    """How requests are sent: ``at 500 requests/s, on 64 connections at most``."""
    if parameters.tool:
        return f"as `{' '.join(parameters.tool)}` sends them"
    connections = f"on {plural(parameters.connections, 'connection')}"
    if parameters.rate == FULL:
        return f"back to back {connections}"
    return f"at {parameters.rate:,g} requests/s{arrival_words(parameters)}, {connections} at most"


def arrival_words(parameters: RequestParameters) -> str:
    """How requests at a rate follow each other: nothing where they do evenly, else ``, at random moments``."""
    if parameters.arrivals == "bursts":
        return f", {parameters.connections:,} at once"
    return ", at random moments" if parameters.arrivals == "poisson" else ""


def reduced(weights: dict[str, int]) -> tuple[Weighted, ...]:
    """A mix by weights, in the shortest cycle."""
    common = math.gcd(*weights.values())
    return tuple(Weighted(endpoint, weight // common) for endpoint, weight in weights.items())


KIND = Requests()
