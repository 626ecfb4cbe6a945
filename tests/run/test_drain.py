"""The drain ends when all has come, or when the agent has been quiet for longer than it ever pauses."""

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import QUICK, configuration
from tracetax.companions.receiver import Counts
from tracetax.model import Configuration, Delivery
from tracetax.run.drain import Awaited, Drained, drain
from tracetax.run.drops import DropLog

EXPECTED = 10
CONFIG = configuration("flat")
LONG_NS = 600 * 10**9
MINUTE_NS = 60 * 10**9


class Hesitating:
    """A sink at which some of the records arrived a minute ago; the others come after it was asked some times."""

    def __init__(
        self, silent_for: int, *, first: int = EXPECTED // 2, phase: str = "measured", connections: int = 1
    ) -> None:
        self.silent_for = silent_for
        self.first = first
        self.phase = phase
        self.connections = connections
        self.asked = 0
        self.began_ns = time.monotonic_ns() - MINUTE_NS

    def counts(self) -> Counts:
        self.asked += 1
        whole = self.asked > self.silent_for
        return Counts(
            phase=self.phase,
            records=EXPECTED if whole else self.first,
            bytes=0,
            last_arrival_ns=self.began_ns + (10**9 if whole else 0),
            open_connections=self.connections,
            malformed=0,
            cpu_ns=0,
        )


def drained(
    sink: Any,
    config: Configuration = CONFIG,
    *,
    log: Path | None = None,
    dropped_before: int = 0,
    limit_seconds: float = 60.0,
    patience: float = 0.0,
    cores: float = 0.0,
) -> Drained:
    return drain(
        sink,
        DropLog(config.drop_log, (log,) if log else ()),
        config,
        Awaited("measured", EXPECTED, dropped_before, sink.began_ns),
        replace(QUICK, drain_base=limit_seconds, drain_per_record=0.0, patience=patience),
        agent_cores=lambda: cores,
        watch=lambda _: None,
    )


def test_silence_ends_it() -> None:
    sink = Hesitating(silent_for=3, connections=0)
    ended = drained(sink)
    assert (ended.at_ns, ended.within_limit, ended.outstanding, ended.still) == (sink.began_ns, True, 5, "")
    assert sink.asked == 1


@pytest.mark.parametrize(
    ("patience", "cores", "connections"),
    [(0.0, 0.5, 0), (2 * MINUTE_NS / 1e9, 0.0, 1)],
    ids=["its threads use CPU", "it is connected"],
)
def test_silence_does_not_end_it_while_every_record_is_promised_and_the_agent_is_still_at_it(
    patience: float, cores: float, connections: int
) -> None:
    sink = Hesitating(silent_for=3, connections=connections)
    assert drained(sink, patience=patience, cores=cores) == Drained(sink.began_ns + 10**9, within_limit=True)
    assert sink.asked == 4
    dropping = Hesitating(silent_for=3, connections=connections)
    drained(dropping, replace(CONFIG, delivery=Delivery.LOSSY), patience=patience, cores=cores)
    assert dropping.asked == 1


def test_an_agent_that_is_only_connected_is_waited_for_no_longer_than_patience_lasts() -> None:
    sink = Hesitating(silent_for=10**9)
    ended = drained(sink, patience=1.0)  # a minute has passed
    assert (ended.within_limit, ended.outstanding, ended.still, sink.asked) == (True, 5, "connected", 1)


def test_an_agent_that_is_busy_is_waited_for_until_the_limit_and_that_is_told() -> None:
    sink = Hesitating(silent_for=10**9)
    ended = drained(sink, cores=0.5, limit_seconds=0.2)
    assert (ended.within_limit, ended.outstanding, ended.still) == (False, 5, "busy")
    assert sink.asked > 1


def test_a_pause_that_is_no_longer_than_the_agents_does_not() -> None:
    sink = Hesitating(silent_for=3)
    assert drained(sink, replace(CONFIG, pause_ns=LONG_NS)).at_ns == sink.began_ns + 10**9
    assert sink.asked == 4


def test_the_limit_ends_it_and_is_told() -> None:
    sink = Hesitating(silent_for=10**9)
    ended = drained(sink, replace(CONFIG, pause_ns=LONG_NS), limit_seconds=0.0)
    assert (ended.at_ns, ended.within_limit) == (sink.began_ns, False)


def test_what_only_the_end_of_the_process_sends_is_waited_for_a_quarter_of_the_time() -> None:
    rest = replace(CONFIG, pause_ns=2 * MINUTE_NS, held_back=EXPECTED // 2)  # half a minute; a minute has passed
    sink = Hesitating(silent_for=10**9)
    assert drained(sink, rest).within_limit
    assert sink.asked == 1
    more = Hesitating(silent_for=3, first=EXPECTED // 2 - 1)  # one more is outstanding than may be held back
    drained(more, rest)
    assert more.asked == 4


def test_drops_that_the_log_admits_are_not_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "stdout.txt"
    log.write_text("dropped 3 span\ndropped 5 span\n")
    sink = Hesitating(silent_for=3)
    assert drained(sink, replace(CONFIG, pause_ns=LONG_NS), log=log, dropped_before=3).at_ns == sink.began_ns
    assert sink.asked == 1


def test_records_of_another_phase_are_none_of_this_one() -> None:
    early = Hesitating(silent_for=0, phase="warm-up")
    assert not drained(early, replace(CONFIG, pause_ns=LONG_NS), limit_seconds=0.0).within_limit
