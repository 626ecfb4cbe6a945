"""Functions: a host serves one function, as in clouds; a load invokes it, or its very first answer is awaited."""

from typing import Literal, TypeAlias

from msgspec import Struct

from tracetax.agent import Configuration, Delivery
from tracetax.kinds import Bounds
from tracetax.kinds.requests import AT_FULL_SPEED as AT_FULL_SPEED
from tracetax.kinds.requests import RequestParameters, Requests, arrival_words
from tracetax.parameters import FULL, Offers, Rate
from tracetax.words import plural

PageCache: TypeAlias = Literal["warm", "dropped"]
"""Whether a cold start finds its files in memory, or nothing of any file is there."""

INVOCATIONS = 10_000
"""Of a warm trial back to back, as in the study that this kind follows."""
CONCURRENT = 10
BURST_INVOCATIONS = 10
"""Of a warm-up: some functions take seconds."""
COLD_SECONDS = 3.0
"""Until a host answers for the first time."""
LONGEST_INVOCATION_SECONDS = 10.0
"""Within which an invocation is over, on a slow machine; of a cold start, until the host is up."""
LONGEST_ANSWER_SECONDS = 60
"""After which an invocation counts as one that is never answered, and one for which no connection is free as unsent."""
BILLED_BYTES = 256 << 20
"""What a cloud is told that a function needs, where no limit is set."""
GB = 10**9
GIB = 2**30


class Price(Struct, frozen=True):
    """What a cloud asks for: the memory that is set for a function, as long as it works, and each invocation."""

    per_gb_second: float = 0.0000166667
    """Of a GB of 2^30 bytes, as clouds count it."""
    per_million: float = 0.20
    """Of a million invocations, whatever they do."""
    currency: str = "USD"
    source: str = "AWS Lambda, x86, us-east-1, list price of 2025"
    """Whose price it is, and of when."""

    def of_million(self, duration_ns: float, memory_bytes: int) -> float:
        """The price of a million invocations that each take so long; no rounding up of their durations."""
        return self.per_million + 1e6 * self.per_gb_second * (memory_bytes / GIB) * (duration_ns / 1e9)


class FunctionParameters(RequestParameters, frozen=True, kw_only=True, tag="functions"):
    """Which function a host serves, how it is invoked, and what becomes of the host."""

    host: str
    """By the name of its folder."""
    cold: bool = False
    """Whether a trial is one fresh host, whose first answer is what is measured."""
    frozen_ns: int | None = None
    """For how long the host is frozen after the last answer before it is killed; None where it ends in order."""
    page_cache: PageCache = "warm"
    memory_bytes: int = 0
    """What the host and all that it starts may have; 0 where there is no limit."""
    cores: float = 0.0
    """CPU that they may use per second, in cores; 0 where there is no limit."""
    price: Price = Price()

    @property
    def function(self) -> str:
        """The function that the host serves."""
        return self.mix[0].endpoint

    @property
    def billed_bytes(self) -> int:
        """The memory that is paid for."""
        return self.memory_bytes or BILLED_BYTES


class Functions(Requests):
    """What functions declare beyond requests."""

    parameters = FunctionParameters
    noun = "invocation"

    def warms_up(self, parameters: RequestParameters) -> bool:
        """Nothing comes before a first answer."""
        return not _own(parameters).cold

    def host(self, parameters: RequestParameters) -> str:
        """The one that serves the function."""
        return _own(parameters).host

    def frozen_ns(self, parameters: RequestParameters) -> int | None:
        """As clouds freeze a host between two invocations, and kill it when none comes."""
        return _own(parameters).frozen_ns

    def bounds(self, parameters: RequestParameters) -> Bounds:
        """What a function is given."""
        own = _own(parameters)
        return Bounds(own.memory_bytes, own.cores, drops_page_cache=own.page_cache == "dropped")

    def price_per_million(self, parameters: RequestParameters, duration_ns: float) -> float | None:
        """The price of a million invocations that take so long."""
        own = _own(parameters)
        return own.price.of_million(duration_ns, own.billed_bytes)

    def burst_calls(self, parameters: RequestParameters, config: Configuration, most_records: int) -> int:
        """Few, since nobody knows how long one takes."""
        return min(BURST_INVOCATIONS, super().burst_calls(parameters, config, most_records))

    def longest_seconds(self, parameters: RequestParameters) -> float:
        """As long as a slow function takes on each of its connections; at a rate, until the last is given up for lost.

        That may be sent just before it were unsent, and is then not answered either.
        """
        if parameters.rate != FULL:
            return max(2 * LONGEST_ANSWER_SECONDS, super().longest_seconds(parameters))
        each = -(-parameters.calls // parameters.connections)
        return max(each * LONGEST_INVOCATION_SECONDS, super().longest_seconds(parameters))

    def trial_seconds(self, parameters: RequestParameters, config: Configuration | None) -> float:
        """Of a cold start: the start, and the flush after it."""
        own = _own(parameters)
        frozen = 0.0 if own.frozen_ns is None else own.frozen_ns / 1e9
        if not own.cold:
            return super().trial_seconds(parameters, config) + frozen
        flushes = config is not None and config.delivery not in (Delivery.NONE, Delivery.AGGREGATED)
        return COLD_SECONDS + frozen + (config.flush_interval_ns / 1e9 if config and flushes else 0.0)

    def at_rate(self, parameters: RequestParameters, rate: Rate, seconds: float) -> RequestParameters | None:
        """None of a cold start, which is one invocation."""
        return None if _own(parameters).cold else super().at_rate(parameters, rate, seconds)

    def parameters_to_check(self, offers: Offers) -> RequestParameters:
        """A hundred invocations of the first function, by the first host."""
        whole = super().parameters_to_check(offers)
        return FunctionParameters(calls=100, rate=10.0, mix=whole.mix[:1], host=offers.hosts[0])

    def speed(self, parameters: RequestParameters) -> str:
        """How fast invocations follow each other, or that there is one."""
        return "as cold starts" if _own(parameters).cold else super().speed(parameters)

    def words(self, parameters: RequestParameters) -> str:
        """The function, its host, and how it is invoked."""
        own = _own(parameters)
        what = f"a cold start of {own.function}" if own.cold else f"{plural(own.calls, 'invocation')} of {own.function}"
        return f"{what}, {invoked_words(own)}"


def _own(parameters: RequestParameters) -> FunctionParameters:
    assert isinstance(parameters, FunctionParameters)
    return parameters


def invoked_words(parameters: FunctionParameters) -> str:
    """By which host, how fast, within which limits, and how it ends: ``by lambda, at 20 invocations/s``."""
    words = [f"by {parameters.host}"]
    if parameters.cold:
        if parameters.page_cache == "dropped":
            words.append("no file in memory")
    elif parameters.rate == FULL:
        words.append(f"back to back, {parameters.connections:,} at a time")
    else:
        words.append(f"at {parameters.rate:,g} invocations/s{arrival_words(parameters)}")
    if parameters.memory_bytes:
        words.append(f"{parameters.memory_bytes / 2**20:,.0f} MiB of memory")
    if parameters.cores:
        words.append(f"{parameters.cores:g} cores")
    if parameters.frozen_ns is not None:
        words.append(frozen_words(parameters.frozen_ns))
    return ", ".join(words)


def frozen_words(frozen_ns: int) -> str:
    """What becomes of the host after the last answer, where it does not end in order."""
    if not frozen_ns:
        return "killed after the last answer"
    return f"frozen for {frozen_ns / 1e9:g} s after the last answer, then killed"


KIND = Functions()
