"""How a run goes, on the terminal: one moving line with the time left, or a line per trial where nobody watches.

After each block a line says the overhead of every configuration, as far as it is known.
"""

import contextlib
import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tracetax.model import Agent, Part, Use
from tracetax.results import blocks as arranged
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.plan import Turn
from tracetax.statistics.intervals import t_interval
from tracetax.statistics.overhead import differences
from tracetax.words import plural

BAR_CELLS = 30
MOST_IN_LINE = 6
"""Configurations whose overhead stands in one line; of further ones only the number is said."""
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def duration_words(seconds: float) -> str:
    """A duration for a person: ``45 s``, ``2 min 10 s``, ``1 h 05 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def between_words(least: float, most: float) -> str:
    """What takes at least and at most so many seconds: one duration, unless they are far apart."""
    if most < least * 1.2 + 30:
        return duration_words(least)
    return f"{duration_words(least)} to {duration_words(most)}"


class TerminalProgress:
    """Shows the run's progress. Use as a context manager."""

    def __init__(self, console: Console) -> None:
        """On a terminal one line is redrawn; elsewhere each trial gets a line of its own."""
        self.console = console
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._block = ""
        self._trials = self._place = 0
        self._trial = self._left = ""
        self._known: tuple[str, ...] = ()

    def __enter__(self) -> "TerminalProgress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            with contextlib.suppress(OSError):  # the terminal may be gone
                self._live.stop()

    def block(self, number: int, most: int, trials: int) -> None:
        """A block of ``trials`` trials begins, or, with number 0, trials outside the blocks."""
        self._block = f"block {number} of {max(number, most)}" if number else "outside blocks"
        self._trials, self._place = trials, 0

    def trial(self, turn: Turn, seconds_left: tuple[float, float]) -> None:
        """A trial begins."""
        self._place += turn.attempt == 1
        place = f"trial {self._place} of {self._trials}" if turn.attempt == 1 else "once more"
        self._trial = f"{place} · {turn.cell.label}, {turn.cell.part}"
        self._left = f"{between_words(*seconds_left)} left"
        if self._live is None:
            self.console.print(
                f"{self._block} · {self._trial} · about {self._left}",
                highlight=False,
                soft_wrap=True,
            )
        self.state("starting")

    def step(self, what: str, place: int, trials: int, seconds_left: float) -> None:
        """A trial of a search begins, number ``place`` of about ``trials``."""
        self._block, self._trials, self._place = f"trial {place} of about {trials}", trials, place
        self._trial, self._left = what, f"{duration_words(seconds_left)} left"
        if self._live is None:
            self.console.print(f"{self._block} · {what} · about {self._left}", highlight=False, soft_wrap=True)
        self.state("starting")

    def state(self, text: str) -> None:
        """What the trial is doing."""
        if self._live:
            self._live.update(self._line(text))

    def done(self, record: TrialRecord, logs: str) -> None:
        """A trial has ended; a failed one is told at once."""
        if record.status == "failed":
            errors = [verdict for verdict in record.verdicts if verdict.severity == "error"]
            use = record.cell.use
            text = Text(f"Trial {record.number} ({use.agent} {use.configuration}, block {record.block}): ")
            text.append("; ".join(verdict.text for verdict in errors), style="red")
            text.append(f"\n  its logs: {logs}", style="dim")
            self.console.print(text, soft_wrap=True)

    def note(self, text: str) -> None:
        """Something that the user should read now."""
        self.console.print(text, highlight=False, soft_wrap=True)

    def known(self, lines: Sequence[str]) -> None:
        """What is known so far: it stays below the moving line, or is a line of its own where nobody watches."""
        self._known = tuple(lines)
        if self._live is None:
            for line in lines:
                self.console.print(line, highlight=False, soft_wrap=True)

    def _line(self, state: str) -> Group:
        done = round(BAR_CELLS * max(0, self._place - 1) / max(1, self._trials))
        bar = Text("━" * done, style="cyan").append("─" * (BAR_CELLS - done), style="dim")
        line = Table.grid(padding=(0, 1))
        line.add_row(self._block, bar, Text(f"{self._trial} · {state}", overflow="ellipsis", no_wrap=True), self._left)
        return Group(line, *(Text(known, overflow="fold") for known in self._known))


class SoFar(Struct, frozen=True):
    """One configuration's overhead per call after the blocks so far."""

    name: str
    mean_ns: float
    half_width_ns: float | None
    """Half-width of the 95 % interval over blocks; None after the first block."""

    def __str__(self) -> str:
        largest = max(abs(self.mean_ns), self.half_width_ns or 0.0)
        scale, unit = next((unit for unit in UNITS if largest >= unit[0] * 0.9995), UNITS[-1])
        value, width = self.mean_ns / scale, (self.half_width_ns or 0.0) / scale
        smaller = min(size for size in (abs(value), width) if size) if value or width else 1.0
        decimals = min(2, max(0, 1 - math.floor(math.log10(abs(value) or 1.0)), -math.floor(math.log10(smaller))))
        shown = f"{value:,.{decimals}f}".replace("-", "−")
        return f"{self.name} {shown}{f' ± {width:,.{decimals}f}' if self.half_width_ns is not None else ''} {unit}"


def so_far(
    part: Part, cells: Sequence[Cell], blocks: arranged.Blocks, agents: Mapping[str, Agent]
) -> tuple[int, list[SoFar]]:
    """The blocks in which a part was measured, and the overhead of its configurations, as far as there is one."""
    own = [cell for cell in cells if cell.part == part.name and cell.role == "configuration"]
    known: list[SoFar] = []
    count = 0
    for cell in own:
        pairs = arranged.paired(blocks, cell, arranged.service_mean)
        if pairs.blocks:
            estimate = t_interval(differences(pairs.values, pairs.baseline_1, pairs.baseline_2))
            name = _name(cell.use, [other.use for other in own], agents)
            known.append(SoFar(name, estimate.mean, estimate.half_width))
            count = max(count, len(pairs.blocks))
    return count, known


def line_of(title: str, count: int, known: Sequence[SoFar], noun: str = "call") -> str:
    """``after 2 blocks, added per call: Kieker 1.9 ± 0.6 µs``, with a part's title where it has one.

    ``noun`` is what a call is called.
    """
    words = [str(overhead) for overhead in known[:MOST_IN_LINE]]
    if len(known) > MOST_IN_LINE:
        words.append(f"{len(known) - MOST_IN_LINE} more")
    blocks = plural(count, "block")
    return f"{f'{title}, ' if title else ''}after {blocks}, added per {noun}: {' · '.join(words)}"


def _name(use: Use, others: Sequence[Use], agents: Mapping[str, Agent]) -> str:
    """The agent's name where that says enough."""
    alone = sum(other.agent == use.agent for other in others) == 1
    return agents[use.agent].name if alone else str(use)
