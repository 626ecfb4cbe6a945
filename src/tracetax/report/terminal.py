"""The answer in the terminal: one table per part, then the sentences, then where to read on."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracetax.model import Delivery
from tracetax.report import numbers
from tracetax.report.views import (
    NO_RESULT,
    STOPPED,
    Group,
    PartView,
    errors,
    group_of,
    group_title,
    half_width,
    labels,
    loss,
    measure,
    next_line,
    overhead,
    shown_path,
    views,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Findings, PartFinding
from tracetax.results.records import Verdict

SEVERITY_MARKS = {"error": ("✗", "red"), "warning": ("⚠", "yellow"), "note": ("·", "dim")}
MIN_TITLE = 18
RANK = 3
GAP = 2


def render(findings: Findings, console: Console, page: Path | None, run: Path) -> None:
    """Print a run's answer. ``page`` is the written report, if any; ``run`` the run's folder.

    Fits 100 columns; below that labels move under their row. Colour only where the console is a terminal.
    """
    if not findings.experiment.result:
        _print(console, Text(NO_RESULT, style="bold yellow"))
    parts = views(findings)
    layout = _Layout(parts, console.width)
    for view in parts:
        console.print()
        _part(console, view, layout)
    console.print()
    for statement in findings.statements:
        _print(console, Text(plain(statement.text)))
    for verdict in _verdicts(findings):
        _verdict(console, verdict)
    console.print()
    _pointers(console, findings, page, run)


def plain(text: str) -> str:
    """Text without control characters: what an agent printed must not steer the reader's terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False)


def _part(console: Console, view: PartView, layout: "_Layout") -> None:
    part = view.part
    title = Text(plain(f"{part.title}: {workload_words(part.parameters)}"), style="bold")
    band = view.half_width(view.band)
    right = "" if band is None else f"A/A band ±{numbers.measured(band, band)[1]} ns"
    gap = console.width - cell_len(title.plain) - cell_len(right)
    _print(console, title + Text(" " * gap + right if gap >= 2 else f"\n{right}" if right else ""))
    _print(console, Text(_background(view), style="dim"))
    if any(group is not Group.FAILED for group in view.groups):
        console.print(layout.header())
    for group, rows in view.groups.items():
        _print(console, Text(f" {group_title(group, rows)}", style="italic"))
        for row in rows:
            if group is Group.FAILED:
                _failed(console, row)
            else:
                console.print(layout.row(row, group, part))


def _background(view: PartView) -> str:
    """The baseline's time, the number of blocks and why there are not more, in one line."""
    times: list[str] = []
    for baseline in view.baselines:
        time = measure(baseline, "service_time")
        if time is not None:
            value, margin = numbers.measured(time.estimate, half_width(time))
            heap = f" with a heap of {numbers.size(baseline.heap_bytes)}" if times else ""
            times.append(f"{value}{f' ± {margin}' if margin else ''} ns{heap}")
    blocks = f"{view.part.blocks} {'block' if view.part.blocks == 1 else 'blocks'}"
    ending = f"{blocks}{', indicative' if view.part.indicative else ''}, {STOPPED[view.part.stopped]}"
    return f"without an agent a call takes {', '.join(times)} · {ending}" if times else ending


def _failed(console: Console, row: ConfigurationFinding) -> None:
    mark, style = SEVERITY_MARKS["error"]
    name = Text(f" {mark}  ", style=style).append(plain(f"{row.agent_name}  {row.title}"), style="default")
    _print(console, name)
    sentences = [verdict.text for verdict in errors(row)] or ["No block of it was completed."]
    for sentence in sentences:
        console.print(Padding(Text(plain(sentence)), (0, 0, 0, 4)), highlight=False)


def _verdicts(findings: Findings) -> Iterator[Verdict]:
    """What a reader of the table must know: the run's verdicts and the rows' warnings. Errors stand in their row."""
    yield from (verdict for verdict in findings.verdicts if verdict.code != "no-result")
    for row in findings.configurations:
        for verdict in row.verdicts:
            if verdict.severity == "warning":
                yield replace(verdict, text=f"{row.agent_name}, {row.title}: {verdict.text}")


def _verdict(console: Console, verdict: Verdict) -> None:
    mark, style = SEVERITY_MARKS[verdict.severity]
    table = Table.grid(padding=(0, 1))
    table.add_row(Text(mark, style=style), Text(plain(verdict.text)))
    console.print(table, highlight=False)


def _pointers(console: Console, findings: Findings, page: Path | None, run: Path) -> None:
    lines = [("Page", shown_path(page))] if page else []
    if findings.experiment.result:
        lines.append(next_line(findings, run))
    width = max((len(name) for name, _ in lines), default=0)
    for name, value in lines:
        console.print(f"{name:<{width}}  {plain(value)}", highlight=False, markup=False, soft_wrap=True)


class _Layout:
    """Column widths, the same for every part, so that all numbers line up."""

    def __init__(self, parts: list[PartView], width: int) -> None:
        placed = [(row, view.part) for view in parts for row in view.rows if group_of(row) is not Group.FAILED]
        rows = [row for row, _ in placed]
        notes = [labels(row, part) for row, part in placed]
        self.estimate = _widest(_cost(row)[0] for row in rows)
        self.margin = _widest(_cost(row)[1] for row in rows)
        self.agent = _widest(plain(row.agent_name) for row in rows)
        self.cost = max(self.estimate + 3 + self.margin, cell_len("per invocation"))
        self.p99 = max(_widest(_p99(row) for row in rows), cell_len("of a call"))
        self.records = max(_widest(_records(row) for row in rows), cell_len("records"))
        title, label, longest = (
            _widest(plain(row.title) for row in rows),
            _widest(", ".join(texts) for texts in notes),
            _widest(text for texts in notes for text in texts),
        )
        left = width - RANK - 5 * GAP - self.agent - self.cost - self.p99 - self.records
        if left < min(title, MIN_TITLE):
            left += self.p99 + GAP
            self.p99 = 0
        self.title = max(1, min(title, left))
        self.label = 0
        if label and left - min(title, MIN_TITLE) - GAP >= longest:
            self.label = min(label, max(longest, left - title - GAP))
            self.title = min(title, left - self.label - GAP)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
        table.add_column(width=RANK, justify="right")
        table.add_column(width=self.agent)
        table.add_column(width=self.title, overflow="fold")
        for fixed in (self.cost, self.p99, self.records):
            if fixed:
                table.add_column(width=fixed, justify="right", no_wrap=True)
        if self.label:
            table.add_column(width=self.label)
        return table

    def _add(self, table: Table, *cells: Text) -> None:
        """Add a row of all seven columns, leaving out those that this width has no room for."""
        shown = (True, True, True, True, self.p99 > 0, True, self.label > 0)
        table.add_row(*(cell for cell, show in zip(cells, shown, strict=True) if show))

    def header(self) -> Table:
        table = self._table()
        empty = Text()
        for words in (("per invocation", "p99", ""), ("ns, 95 %", "of a call", "records")):
            self._add(table, empty, empty, empty, *(Text(word, style="dim") for word in words), empty)
        return table

    def row(self, row: ConfigurationFinding, group: Group, part: PartFinding) -> Table:
        notes = Text(", ".join(labels(row, part)), style="dim")
        title = Text(plain(row.title))
        if notes and not self.label:
            title.append("\n").append(notes)
        if group in (Group.LOST, Group.PARTIAL):
            title.append("\n" + loss(row), style="dim")
        estimate, margin = _cost(row)
        cost = f"{estimate:>{self.estimate}}" + (f" ± {margin:<{self.margin}}" if margin else " " * (3 + self.margin))
        rank = str(row.rank) if group is Group.DELIVERS and row.rank is not None else ""
        table = self._table()
        cells = (rank, plain(row.agent_name), title, cost, _p99(row), _records(row), notes)
        self._add(table, *(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
        return table


def _widest(texts: Iterable[str]) -> int:
    return max((cell_len(text) for text in texts), default=0)


def _cost(row: ConfigurationFinding) -> tuple[str, str]:
    of = overhead(row)
    return ("", "") if of is None else numbers.measured(of.estimate, half_width(of))


def _p99(row: ConfigurationFinding) -> str:
    """Rounded to what its interval supports, shown without it: the page has the interval."""
    of = measure(row, "service_time_p99")
    if of is None:
        return ""
    return numbers.rounded(of.estimate, min(0, numbers.decimals_for(half_width(of), of.estimate)))


def _records(row: ConfigurationFinding) -> str:
    if row.delivery == Delivery.NONE or row.records.completeness is None:
        return ""
    return numbers.percent(row.records.completeness)
