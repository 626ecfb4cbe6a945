"""The drain ends when all has come, or when the agent has been quiet for longer than it ever pauses."""

import time
from typing import Any

from msgspec.structs import replace

from tests.run.stand_ins import QUICK, configuration
from tracetax.companions.sink import Counts
from tracetax.run.drain import drain
from tracetax.run.drops import DropLog

EXPECTED = 10
CONFIG = configuration("flat")


class Hesitating:
    """A sink at which half of the records arrived a minute ago; the others come after it was asked some times."""

    def __init__(self, silent_for: int) -> None:
        self.silent_for = silent_for
        self.asked = 0
        self.began_ns = time.monotonic_ns() - 60 * 10**9

    def counts(self) -> Counts:
        self.asked += 1
        whole = self.asked > self.silent_for
        return Counts(
            phase="measured",
            records=EXPECTED if whole else EXPECTED // 2,
            bytes=0,
            last_arrival_ns=self.began_ns + (10**9 if whole else 0),
            open_connections=1,
            malformed=0,
            cpu_ns=0,
        )


def drained(sink: Any, pause_ns: int) -> int:
    return drain(
        sink,
        DropLog(None, ()),
        replace(CONFIG, pause_ns=pause_ns),
        phase="measured",
        expected=EXPECTED,
        dropped_before=0,
        last_call_ns=sink.began_ns,
        limits=replace(QUICK, drain_base=60.0),
        watch=lambda _: None,
    ).at_ns


def test_silence_ends_it() -> None:
    sink = Hesitating(silent_for=3)
    assert drained(sink, pause_ns=0) == sink.began_ns
    assert sink.asked == 1


def test_a_pause_that_is_no_longer_than_the_agents_does_not() -> None:
    sink = Hesitating(silent_for=3)
    assert drained(sink, pause_ns=600 * 10**9) == sink.began_ns + 10**9
    assert sink.asked == 4
