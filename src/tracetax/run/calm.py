"""Whether the machine is quiet enough to measure on, and whether repeating disturbed trials still helps."""

import time
from collections import deque

from tracetax.machine import disturbance
from tracetax.machine.isolation import Isolation
from tracetax.results.records import TrialRecord

LOOK_SECONDS = 1.0
LOOKED_AT = 20
"""Trials, repetitions included, by which it is judged whether repeating helps."""
FEWEST = 8
NEARLY_ALL = 0.9


def busy_cores(isolation: Isolation, seconds: float = LOOK_SECONDS) -> float:
    """Cores that others use or that are stolen now; 0 where it is no more than a trial bears."""
    start, own = disturbance.machine_cpu(isolation.watched), time.process_time_ns()
    time.sleep(seconds)
    own = time.process_time_ns() - own
    load = disturbance.between(start, disturbance.machine_cpu(isolation.watched), own, isolation.share)
    return load.steal + load.other if load.disturbed else 0.0


def busy_words(cores: float) -> str:
    """How busy the machine is, and what that means for a run."""
    one = f"{cores:.1f}" == "1.0"
    return f"{cores:.1f} core{' is' if one else 's are'} busy with others; disturbed trials will be repeated."


class Repeating:
    """Decides whether a disturbed trial is repeated: not while nearly all trials are disturbed."""

    def __init__(self) -> None:
        self._disturbed: deque[bool] = deque(maxlen=LOOKED_AT)
        self._told = False

    def seen(self, record: TrialRecord) -> None:
        """Take a trial into account that has just been made; a failed one tells nothing."""
        if record.disturbance:
            self._disturbed.append(record.disturbance.disturbed)

    @property
    def helps(self) -> bool:
        """Whether a repetition has a chance to be less disturbed than what it repeats."""
        seen = len(self._disturbed)
        return seen < FEWEST or sum(self._disturbed) < NEARLY_ALL * seen

    def news(self) -> str:
        """A sentence where the answer has changed since this was asked last; else empty."""
        if self.helps is not self._told:
            return ""
        self._told = not self.helps
        if not self._told:
            return "The machine has become quieter: disturbed trials are repeated again."
        return (
            f"{sum(self._disturbed)} of the last {len(self._disturbed)} trials were disturbed by others, so repeating "
            "them does not help: disturbed trials are not repeated any more, and count as they are."
        )
