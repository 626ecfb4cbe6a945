"""The answer in the terminal: one table per part, then the sentences, then where to read on."""

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.console import Group as RichGroup
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
MIN_TITLE = 16
RANK = 2
GAP = 2
INDENT = RANK + 2 * GAP
COST = ("per invocation", "ns, 95 %")
P99 = ("p99 of", "a call")
RECORDS = ("", "records")


def render(findings: Findings, console: Console, page: Path | None, run: Path) -> None:
    """Print a run's answer. ``page`` is the written report, if any; ``run`` the run's folder.

    Fits 80 columns; below that labels move under their row. Colour only where the console is a terminal.
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
        _print(console, _wrapped(statement.text, console.width))
    for verdict in _verdicts(findings):
        _verdict(console, verdict)
    console.print()
    _pointers(console, findings, page, run)


def plain(text: str) -> str:
    """Text without control characters: what an agent printed must not steer the reader's terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _wrapped(text: str, width: int, style: str = "", indent: int = 0) -> Text:
    """Text in lines of at most ``width``, none of which ends inside a number with its half-width and unit."""
    margin = " " * indent
    lines = textwrap.wrap(
        numbers.unbroken(plain(text)), width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )
    return Text("\n".join(lines).replace(numbers.SPACE, " "), style=style)


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False)


def _part(console: Console, view: PartView, layout: "_Layout") -> None:
    part = view.part
    title = _wrapped(f"{part.title}: {workload_words(part.parameters)}", console.width, "bold")
    band = view.half_width(view.band)
    right = "" if band is None else f"A/A band ±{numbers.measured(band, band)[1]} ns"
    gap = console.width - cell_len(title.plain) - cell_len(right)
    _print(console, title + Text(" " * gap + right if gap >= 2 else f"\n{right}" if right else ""))
    background = _background(view)
    separator = " · " if cell_len(" · ".join(background)) <= console.width else "\n"
    _print(console, Text(separator.join(background), style="dim"))
    if any(group is not Group.FAILED for group in view.groups):
        console.print(layout.header())
    for group, rows in view.groups.items():
        _print(console, _wrapped(group_title(group, rows), console.width, "italic", indent=1))
        for row in rows:
            if group is Group.FAILED:
                _failed(console, row)
            else:
                console.print(layout.row(row, group, part))


def _background(view: PartView) -> list[str]:
    """The baseline's time; the number of blocks and why there are not more."""
    times: list[str] = []
    for baseline in view.baselines:
        time = measure(baseline, "service_time")
        if time is not None:
            value, margin = numbers.measured(time.estimate, half_width(time))
            heap = f" with a heap of {numbers.size(baseline.heap_bytes)}" if times else ""
            notes = "".join(f" ({note})" for note in labels(baseline, view.part))
            times.append(f"{value}{f' ± {margin}' if margin else ''} ns{heap}{notes}")
    blocks = f"{view.part.blocks} {'block' if view.part.blocks == 1 else 'blocks'}"
    ending = f"{blocks}{', indicative' if view.part.indicative else ''}, {STOPPED[view.part.stopped]}"
    return [f"without an agent a call takes {', '.join(times)}", ending] if times else [ending]


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
        self.cost = max(self.estimate + 3 + self.margin, cell_len(COST[1]))
        self.p99 = _widest((*P99, *map(_p99, rows)))
        self.records = _widest((*RECORDS, *map(_records, rows)))
        title = _widest(plain(row.title) for row in rows)
        left = width - RANK - 5 * GAP - self.agent - self.cost - self.p99 - self.records
        if left < min(title, MIN_TITLE):
            left += self.p99 + GAP
            self.p99 = 0
        self.label = _label_width(notes, left - min(title, MIN_TITLE) - GAP)
        if self.label:
            in_one_line = _widest(", ".join(texts) for texts in notes)
            self.label = min(in_one_line, max(self.label, left - title - GAP))
            left -= self.label + GAP
        self.title = max(1, min(title, left))

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

    def header(self) -> Text:
        """The names of the columns of numbers; the first is wider than its column, over nothing."""
        before = RANK + self.agent + self.title + 3 * GAP + self.cost
        lines: list[str] = []
        for cost, p99, records in zip(COST, P99, RECORDS, strict=True):
            names = [f"{cost:>{before}}", *([f"{p99:>{self.p99}}"] if self.p99 else []), f"{records:>{self.records}}"]
            lines.append((" " * GAP).join(names).rstrip())
        return Text("\n".join(lines), style="dim")

    def row(self, row: ConfigurationFinding, group: Group, part: PartFinding) -> RenderableType:
        """A row; what has no column of its own stands below it, over the whole width."""
        notes = labels(row, part)
        beside = Text("\n".join(_label_lines(notes, self.label)) if self.label else "", style="dim")
        estimate, margin = _cost(row)
        cost = f"{estimate:>{self.estimate}}" + (f" ± {margin:<{self.margin}}" if margin else " " * (3 + self.margin))
        rank = str(row.rank) if group is Group.DELIVERS and row.rank is not None else ""
        cells = [rank, plain(row.agent_name), plain(row.title), cost, *([_p99(row)] if self.p99 else []), _records(row)]
        table = self._table()
        table.add_row(*map(Text, cells), *([beside] if self.label else []))
        below = [", ".join(notes)] if notes and not self.label else []
        below += [loss(row)] if group in (Group.LOST, Group.PARTIAL) else []
        return RichGroup(table, *(Padding(Text(text, style="dim"), (0, 0, 0, INDENT)) for text in below))


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
