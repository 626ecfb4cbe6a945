"""What the stages of a trial say to driver and sink, and in which order, for every way in which records travel."""

import os
import time
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.run.stand_ins import HEAP, configuration, experiment, fake_equipment
from tracetax.companions.sink import Sink
from tracetax.model import SCRAPED, Configuration, Scrape, Use
from tracetax.process import Ending
from tracetax.results.records import Cell
from tracetax.run.files import RecordsFolder
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.program import ProgramStart
from tracetax.run.stages import conduct_or_end
from tracetax.workloads.driver import TOP_TIER, Status


class Stage:
    """Driver and sink at once: writes down what it is told, and delivers every record at once."""

    def __init__(self, folder: Path) -> None:
        self.events: list[str] = []
        self.folder = folder
        self.pid = os.getpid()
        self.process = self.program = self
        self.loads = False
        self.orphans_cpu_ns = 0
        self.calls = {"warm-up": 0, "measured": 0}

    def say(self, command: str) -> None:
        word = command.split()[0]
        self.events.append(f"driver: {word} …" if word == "warm-up" else f"driver: {word}")
        self.calls["warm-up"] += int(command.removeprefix("warm-up ")) if word == "warm-up" else 0
        self.calls["measured"] += 200 if word == "measure" else 0
        if word in ("warm-up", "measure"):
            (self.folder / word).write_text("a record")

    def wait_for(self, name: str, seconds: float, *, interval: float = 0.02) -> Status:
        assert 0 < interval < seconds
        self.events.append(f"driver awaited: {name}")
        return Status(name, time.monotonic_ns(), {"driver": str(TOP_TIER), "method": str(TOP_TIER)}, "")

    def stop(self, grace: float = 0.0) -> Ending:
        self.events.append("driver ended" if grace else "sink ended")
        return Ending(status=0, cpu_ns=0, max_rss_bytes=0, ended_ns=time.monotonic_ns(), asked="itself")

    def end(self, grace: float, by: str) -> Ending:
        assert not by
        return self.stop(grace)

    def told(self, text: str) -> None:
        if not any(character.isdigit() for character in text):
            self.events.append(f"told: {text}")


class StagedSink(Sink):
    """A sink without a process, which answers from what the stage has made."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.process: Any = stage
        self.ports = {SCRAPED: 1}
        self.phase = "warm-up"
        self.by_itself = False

    def _ask(self, command: str) -> dict[str, Any]:
        words = command.split()
        if words[0] == "read":
            words[-1] = "FOLDER"
        told = [("N" if word.isdigit() else word) for word in words]
        self.stage.events.append(f"sink: {' '.join(told)}")
        if words[0] == "counts":
            records = 3 * self.stage.calls[self.phase]
            return {
                **self._phase(self.phase),
                "records": records,
                "bytes": 0,
                "last_arrival_ns": time.monotonic_ns(),
                "malformed": 0,
                "answers": 1,
            }
        if words[0] in ("phase", "read"):
            closed, self.phase = self._phase(self.phase), "measured"
            self.by_itself = "after" in words
            return closed
        earlier = [self._phase("warm-up")] if self.by_itself else []
        return {**self._phase(self.phase), "earlier": earlier}

    def _phase(self, name: str) -> dict[str, Any]:
        count = {"records": 3 * self.stage.calls[name]}
        return {
            "phase": name,
            "protocols": dict.fromkeys(("otlp-http", "kieker-text-file", SCRAPED), count),
            "cpu_ns": 0,
            "max_rss_bytes": 0,
            "open_connections": 0,
        }


def conducted(tmp_path: Path, config: Configuration) -> tuple[list[str], Any]:
    """What was said, with how often it was said in a row, and what came of the trial."""
    folder = tmp_path / "records"
    folder.mkdir()
    stage: Any = Stage(folder)
    cell = Cell(part="p", use=Use(agent="fake", configuration=config.name), heap_bytes=HEAP)
    turn = Turn(block=1, block_size=1, cell=cell)
    plan = TrialPlan(number=1, turn=turn, part=experiment(config).parts[0], config=config)
    equipment = fake_equipment(Path("sink"), config)
    start = ProgramStart(plan, equipment, (), {}, folder, tmp_path)
    outcome = conduct_or_end(start, StagedSink(stage), stage, RecordsFolder(folder), stage.told)
    in_a_row = [(event, len(list(same))) for event, same in groupby(stage.events)]
    return [event if count == 1 else f"{event} ({count})" for event, count in in_a_row], outcome


def arrived(outcome: Any) -> tuple[int, int, int]:
    """Records of the measured calls at the last call and when drained, and those of the warm-up that are missing."""
    missing = outcome.warmed.records - outcome.before.of("otlp-http").records
    return outcome.arrived_by_last_call, outcome.arrived_by_drained, missing


SENT = configuration("flat")
WARM_UP = [
    "driver awaited: ready",
    *("driver: warm-up …", "driver awaited: warmed", "sink: counts (2)"),
    *("driver: warm-up …", "driver awaited: warmed", "sink: counts"),
    *("told: warmed up, waiting for the last records", "sink: counts"),
]
REST = "told: warmed up, waiting for the compilers"
CALLS = ["told: calling", "driver: measure", "driver awaited: first-call", "driver awaited: last-call"]
END = ["driver: drained", "driver awaited: written", "driver ended", "sink: counts"]
STOP = ["sink: stop", "sink ended"]


def test_the_account_of_the_warm_up_is_closed_before_the_calls_where_records_are_sent(tmp_path: Path) -> None:
    events, outcome = conducted(tmp_path, SENT)
    assert events == [
        *(*WARM_UP, REST, "sink: phase measured"),
        *(*CALLS, "sink: counts (3)", "told: ending", *END, *STOP),
    ]
    assert arrived(outcome) == (600, 600, 0)


def test_it_closes_by_itself_where_the_end_of_the_process_sends_the_last_records(tmp_path: Path) -> None:
    events, outcome = conducted(tmp_path, replace(SENT, held_back=5))
    assert events == [
        *(*WARM_UP, REST, "sink: phase measured after N"),
        *(*CALLS, "sink: counts (3)", "told: ending", *END, *STOP),
    ]
    assert arrived(outcome) == (600, 600, 0)


def test_metrics_are_awaited_before_the_calls_and_asked_for_once_more_before_the_end(tmp_path: Path) -> None:
    events, outcome = conducted(tmp_path, replace(SENT, protocol=SCRAPED, scrape=Scrape("/metrics", 10**9, "calls")))
    assert events == [
        *(*WARM_UP, "told: warmed up, waiting for its metrics", "sink: counts", REST, "sink: phase measured"),
        *(*CALLS, "sink: counts (3)", "told: ending", "sink: scrape last", *END, *STOP),
    ]
    assert arrived(outcome) == (0, 0, 0)
    assert outcome.receiver_cpu_ns == 0


def test_files_are_counted_after_the_end_the_warm_ups_records_first(tmp_path: Path) -> None:
    events, outcome = conducted(tmp_path, replace(SENT, protocol="kieker-text-file"))
    assert events == [
        *(event for event in WARM_UP if "sink" not in event),
        *(REST, *CALLS, "sink: counts (2)", "told: ending", *END),
        *("told: counting what was written", "sink: read kieker-text-file measured after N FOLDER", "sink: counts"),
        *STOP,
    ]
    assert arrived(outcome) == (600, 600, 0)
    assert outcome.receiver_cpu_ns == 0
