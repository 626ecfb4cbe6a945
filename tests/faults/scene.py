"""A short run over stand-ins, harmed at a chosen stage of its first trial with an agent."""

import contextlib
import hashlib
import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.run.stand_ins import configuration, experiment, fake_equipment, new_run
from tracetax.analysis.findings import build
from tracetax.model import Configuration
from tracetax.results.findings import ConfigurationFinding
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord
from tracetax.run.plan import Turn
from tracetax.run.session import Ended, Session

FLAT = configuration("flat")


class Harm:
    """A progress that does something once, when a trial of the agent reaches a stage."""

    def __init__(self, stage: str = "", what: Callable[[], None] = lambda: None) -> None:
        self.stage = stage
        self.what = what
        self.done_to = 0
        self.agent = False
        self.ended: list[TrialRecord] = []

    def block(self, number: int, most: int, trials: int) -> None: ...

    def trial(self, turn: Turn, seconds_left: tuple[float, float]) -> None:
        self.agent = turn.cell.use.agent == "fake"

    def state(self, text: str) -> None:
        if self.stage and self.agent and not self.done_to and text.startswith(self.stage):
            self.done_to += 1
            self.what()

    def known(self, lines: Sequence[str]) -> None: ...

    def done(self, record: TrialRecord, logs: str) -> None:
        self.ended.append(record)

    def note(self, text: str) -> None: ...


def measured(
    path: Path, sink: Path, harm: Harm | None = None, config: Configuration = FLAT, blocks: int = 2
) -> tuple[Ended, RunFolder]:
    """Measure, or go on measuring."""
    what = experiment(config, blocks=blocks)
    folder = RunFolder(path) if path.exists() else new_run(path, what, config)
    return Session(what, fake_equipment(sink, config), folder, harm or Harm()).run(), folder


def finished(run: Path) -> dict[str, str]:
    """Each finished trial with the checksum of all that it holds."""
    return {
        folder.name: hashlib.sha256(b"".join(file.read_bytes() for file in sorted(folder.iterdir()))).hexdigest()
        for folder in sorted((run / "trials").glob("[0-9]*"))
    }


def is_complete(folder: RunFolder, blocks: int = 2) -> bool:
    """Whether the findings have a result of these blocks for the agent and the baseline."""
    folder.consolidate()
    rows = build(folder).configurations
    return {row.agent for row in rows} == {"none", "fake"} and all(row.records.blocks == blocks for row in rows)


def row(folder: RunFolder) -> ConfigurationFinding:
    """The findings on the agent."""
    folder.consolidate()
    return next(row for row in build(folder).configurations if row.agent == "fake")


def children() -> dict[int, list[str]]:
    """Living children of this process and their command lines."""
    found: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (path / "stat").read_text().rsplit(") ", 1)[1].split()
            if fields[1] == str(os.getpid()) and fields[0] != "Z":
                words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
                found[int(path.name)] = words
    return found


def signal_to(option: str, number: signal.Signals) -> Callable[[], None]:
    """Send a signal to the child with this option: the JVM has ``--status``, the sink ``--record-name``."""

    def send() -> None:
        for pid, words in children().items():
            if option in words:
                os.kill(pid, number)

    return send


def codes(records: list[TrialRecord]) -> list[str]:
    """Codes of the error verdicts, one per failed trial."""
    return [verdict.code for record in records for verdict in record.verdicts if verdict.severity == "error"]


def manifest_of(run: Path) -> dict[str, object]:
    return json.loads((run / "manifest.json").read_text())
