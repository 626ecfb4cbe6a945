"""The columns of the terminal's table: how wide each is, and what stands below a row where it is narrow."""

import textwrap
from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Group as RichGroup
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracetax.model import Delivery
from tracetax.printable import printable
from tracetax.report import numbers
from tracetax.report.headline import Cost
from tracetax.report.kinds import TimeUnit, call_noun, charged_words, time_unit
from tracetax.report.views import (
    Group,
    MeasureOf,
    PartView,
    apart,
    building_words,
    cpu,
    group_of_row,
    half_width,
    labels,
    loss,
    overhead,
    p99_of_call,
    remarks,
    title_of,
    unit_of,
)
from tracetax.results.findings import ConfigurationFinding, Measure, PartFinding
from tracetax.words import one

WARNING = "⚠"
MIN_TITLE = 16
RANK = 2
GAP = 2
INDENT = RANK + 2 * GAP
RANKED = "ranked by"
CPU = ("CPU of all", "threads, per")
RECORDS = ("records",)


class Layout:
    """Column widths, the same for every part, so that all numbers line up. What ranks comes first, and is marked."""

    def __init__(self, parts: list[PartView], width: int, by: Cost) -> None:
        placed = [(row, view.part) for view in parts for row in view.rows if group_of_row(row) is not Group.FAILED]
        rows = [row for row, _ in placed]
        notes = [labels(row, part) for row, part in placed]
        self.agent = _widest(printable(row.agent_name) for row in rows)
        self.unit = unit = time_unit(parts[0].part)
        tails = [_p99(row, unit) for row in rows]
        self.tail = ("p99 of", one(call_noun(parts[0].part)))
        self.p99 = _widest((*self.tail, *tails)) if any(tails) else 0
        self.records = _widest((*RECORDS, *map(_records, rows)))
        title = _widest(printable(title_of(row)) for row in rows)
        ranked = any(row.rank is not None for row in rows)
        delay = ("overhead per", f"{unit_of(parts[0].part)},", f"{unit.name}, 95 %")
        pairs = [
            _Pair(cpu, (*CPU, f"{charged_words(parts[0].part)}, {unit.name}"), rows, unit),
            _Pair(overhead, delay, rows, unit),
        ]
        pairs = [pair for pair in (pairs if by == "cpu" else pairs[::-1]) if pair.known]
        self.below: list[_Pair] = []
        self.pairs = [pair.leading() if ranked and pair is pairs[0] else pair for pair in pairs]
        wanted = min(title, MIN_TITLE)
        columns = self.p99, self.records, *(pair.width for pair in self.pairs)
        left = width - RANK - 2 * GAP - self.agent - sum(column + GAP for column in columns if column)
        if left < wanted and self.p99:
            left += self.p99 + GAP
            self.p99 = 0
        if left < wanted and len(self.pairs) > 1:
            left += self.pairs[1].width + GAP
            self.pairs, self.below = self.pairs[:1], self.pairs[1:]
        self.label = _label_width(notes, left - wanted - GAP)
        if self.label:
            in_one_line = _widest(", ".join(texts) for texts in notes)
            self.label = min(in_one_line, max(self.label, left - title - GAP))
            left -= self.label + GAP
        self.title = max(1, min(title, left))
        self.width = width

    def _numbers(self) -> list[tuple[int, tuple[str, ...]]]:
        """Width and heading of each column of numbers that has room."""
        columns = [(pair.width, pair.heading) for pair in self.pairs]
        columns += [(self.p99, self.tail)] if self.p99 else []
        return [*columns, (self.records, RECORDS)]

    def header(self) -> Text:
        """The names of the columns of numbers, ending in the same line."""
        before = " " * (RANK + self.agent + self.title + 2 * GAP)
        columns = self._numbers()
        height = max(len(words) for _, words in columns)
        lines = [
            before + "".join(" " * GAP + f"{word:>{width}}" for width, words in columns for word in (_at(words, line),))
            for line in range(-height, 0)
        ]
        return Text("\n".join(line.rstrip() for line in lines), style="dim")

    def row(
        self, row: ConfigurationFinding, group: Group, part: PartFinding, told: Iterable[str] = ()
    ) -> RenderableType:
        """A row; what has no column of its own stands below it, over the whole width, its warnings last.

        Warnings whose codes are ``told`` of the whole run are left out.
        """
        notes = labels(row, part)
        beside = Text("\n".join(_label_lines(notes, self.label)) if self.label else "", style="dim")
        rank = str(row.rank) if group is Group.DELIVERS and row.rank is not None else ""
        cells = [rank, printable(row.agent_name), printable(title_of(row)), *(pair.text(row) for pair in self.pairs)]
        cells += [_p99(row, self.unit) or "–"] if self.p99 else []
        cells += [_records(row)]
        table = self._table()
        table.add_row(*map(Text, cells), *([beside] if self.label else []))
        below = [words for pair in self.below if (words := pair.in_words(row))]
        spent = apart(row)
        below += [f"CPU {_amount(spent, self.unit)} {self.unit.name} per {unit_of(row)} offered"] if spent else []
        built = building_words(row)
        below += [built] if built else []
        below += [", ".join(notes)] if notes and not self.label else []
        below += [loss(row)] if group in (Group.LOST, Group.PARTIAL, Group.COUNTS) else []
        return RichGroup(
            table, *(Padding(Text(text, style="dim"), (0, 0, 0, INDENT)) for text in below), *warnings_of(row, told)
        )

    def _table(self) -> Table:
        table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
        table.add_column(width=RANK, justify="right")
        table.add_column(width=self.agent)
        table.add_column(width=self.title, overflow="fold")
        for width, _ in self._numbers():
            table.add_column(width=width, justify="right", no_wrap=True)
        if self.label:
            table.add_column(width=self.label)
        return table


class _Pair:
    """A column of estimates with their half-widths, aligned at the ±."""

    def __init__(
        self, of: MeasureOf, heading: tuple[str, ...], rows: list[ConfigurationFinding], unit: TimeUnit
    ) -> None:
        texts = [_measured(of(row), unit) for row in rows]
        self.of = of
        self.unit = unit
        self.heading = heading
        self.known = any(of(row) for row in rows)
        self.estimate = _widest(estimate for estimate, _ in texts)
        self.margin = _widest(margin for _, margin in texts)
        self.width = max(self.estimate + 3 + self.margin, _widest(heading))

    def leading(self) -> "_Pair":
        """The column marked as that which the ranks follow."""
        self.heading = (RANKED, *self.heading)
        return self

    def text(self, row: ConfigurationFinding) -> str:
        """One cell, as wide as all of the column."""
        estimate, margin = _measured(self.of(row), self.unit)
        return f"{estimate:>{self.estimate}}" + (f" ± {margin:<{self.margin}}" if margin else " " * (3 + self.margin))

    def in_words(self, row: ConfigurationFinding) -> str:
        """The number without its column; empty where there is none."""
        of = self.of(row)
        if of is None:
            return ""
        per = call_noun(row) if of.per == "call" else of.per
        return f"{'CPU' if self.of is cpu else 'overhead'} {_amount(of, self.unit)} {self.unit.name} per {per}"


def warnings_of(row: ConfigurationFinding, told: Iterable[str] = ()) -> list[RenderableType]:
    """A row's warnings, below it; the page has its notes too."""
    warnings: list[RenderableType] = []
    for verdict in remarks(row, told):
        if verdict.severity == "warning":
            table = Table.grid(padding=(0, 1))
            table.add_row(Text(WARNING, style="yellow"), Text(printable(verdict.text)))
            warnings.append(Padding(table, (0, 0, 0, RANK + GAP)))
    return warnings


def _at(words: tuple[str, ...], line: int) -> str:
    """A heading's line counted from its last."""
    return words[line] if len(words) >= -line else ""


def _amount(of: Measure, unit: TimeUnit) -> str:
    estimate, margin = _measured(of, unit)
    return f"{estimate} ± {margin}" if margin else estimate


def _measured(of: Measure | None, unit: TimeUnit) -> tuple[str, str]:
    return ("", "") if of is None else in_unit(of.estimate, half_width(of), unit)


def in_unit(estimate: float, margin: float | None, unit: TimeUnit) -> tuple[str, str]:
    """A time and its half-width, both given in nanoseconds, in a unit."""
    return numbers.measured(unit.of(estimate), None if margin is None else unit.of(margin))


def _label_width(notes: list[list[str]], room: int) -> int:
    """The narrowest column in which every row's labels stand whole in two lines; 0 where no room is for it."""
    for width in range(1, room + 1):
        lines = [_label_lines(texts, width) for texts in notes]
        if any(lines) and _widest(line for row in lines for line in row) <= width and max(map(len, lines)) <= 2:
            return width
    return 0


def _label_lines(texts: list[str], width: int) -> list[str]:
    """Labels in lines that end between labels only."""
    joined = ", ".join(text.replace(" ", numbers.SPACE) for text in texts)
    lines = textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(numbers.SPACE, " ") for line in lines]


def _widest(texts: Iterable[str]) -> int:
    return max((cell_len(text) for text in texts), default=0)


def _p99(row: ConfigurationFinding, unit: TimeUnit) -> str:
    """Rounded to what its interval supports, shown without it: the page has the interval."""
    of = p99_of_call(row)
    if of is None:
        return ""
    margin = half_width(of)
    return numbers.alone(unit.of(of.estimate), None if margin is None else unit.of(margin), finest=0)


def _records(row: ConfigurationFinding) -> str:
    if row.delivery == Delivery.NONE or row.records.completeness is None:
        return ""
    return numbers.percent(row.records.completeness)
