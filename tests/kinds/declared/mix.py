"""A kind that only tests know: every second call makes twice as many records as the others, and none has a depth."""

from tracetax.agent import Configuration
from tracetax.kinds import Declaration
from tracetax.parameters import Offers, Parameters, Rate
from tracetax.words import plural


class MixParameters(Parameters, frozen=True, kw_only=True, tag="mix"):
    """What its calls are."""

    small: int
    """Records of a small call."""


class Mix(Declaration[MixParameters]):
    """What it declares."""

    parameters = MixParameters
    unit = "call"
    compared = "response"

    def units(self, parameters: MixParameters, calls: int) -> int:
        return calls

    def records_made(self, parameters: MixParameters, config: Configuration, calls: int) -> int:
        return (calls + calls // 2) * parameters.small

    def records_truncated(self, parameters: MixParameters, config: Configuration, calls: int) -> int:
        return 0

    def queue_records(self, parameters: MixParameters, config: Configuration) -> int | None:
        return config.queue

    def receiver_options(self, parameters: MixParameters, config: Configuration) -> tuple[str, ...]:
        return "--sizes", f"small={parameters.small}"

    def burst_calls(self, parameters: MixParameters, config: Configuration, most_records: int) -> int:
        return 2 * max(1, most_records // (3 * parameters.small))

    def calls_to_whole(self, parameters: MixParameters, config: Configuration, calls: int, batch: int) -> int:
        return 0

    def work_ns(self, parameters: MixParameters) -> int:
        return 0

    def longest_seconds(self, parameters: MixParameters) -> float:
        return 0.01 * parameters.calls

    def trial_seconds(self, parameters: MixParameters, config: Configuration | None) -> float:
        return 7.0 if config is None else 8.0

    def sample_bytes(self, parameters: MixParameters) -> int:
        return parameters.calls << 20

    def callers_spin(self, parameters: MixParameters) -> bool:
        return False

    def at_rate(self, parameters: MixParameters, rate: Rate, seconds: float) -> MixParameters | None:
        return None

    def parameters_to_check(self, offers: Offers) -> MixParameters:
        return MixParameters(calls=10, small=1)

    def words(self, parameters: MixParameters) -> str:
        return f"{plural(parameters.calls, 'call')}, small and large"


KIND = Mix()
