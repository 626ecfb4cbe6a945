"""The answer in the terminal: one sentence, what a choice hangs on, one table per part, then where to read on."""

import textwrap
from pathlib import Path

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracetax.printable import printable
from tracetax.report import headline, lines, numbers
from tracetax.report.columns import GAP, Layout, in_unit, warnings_of
from tracetax.report.decision import BEST, MEANING, ROOM, ChoiceTable, Quantity, decision, reading
from tracetax.report.functions import FunctionTable, function_tables
from tracetax.report.kinds import call_noun, time_unit
from tracetax.report.published import PublishedView, TimePerCall, published_view
from tracetax.report.views import (
    NO_RESULT,
    STOPPED,
    Group,
    PartView,
    building_words,
    caveat,
    errors,
    group_heading,
    half_width,
    labels,
    measured_time,
    next_line,
    platform_words,
    ranked_by,
    shown_path,
    slow_share_words,
    time_of_call,
    title_of,
    views,
    workload_words,
)
from tracetax.report.workloads import WorkloadCost, WorkloadTable, workload_tables
from tracetax.results.findings import ConfigurationFinding, Findings, GrowthFinding
from tracetax.results.records import Verdict
from tracetax.words import one

LONGEST_LABEL = 34
"""Of a line of the table side by side: two configurations then fit into 80 columns."""
LEAST = 15
"""Width of a configuration's column in the table of the choice: of the longest usual name."""
SEVERITY_MARKS = {"error": ("✗", "red"), "warning": ("⚠", "yellow"), "note": ("·", "dim")}


def render(findings: Findings, console: Console, page: Path | None, run: Path) -> None:
    """Print a run's answer. ``page`` is the written report, if any; ``run`` the run's folder.

    Fits 80 columns; below that labels and what does not rank move under their row. Colour only where the console is a
    terminal.
    """
    parts = views(findings)
    told = [verdict.code for verdict in findings.verdicts]
    console.print()
    if not findings.experiment.result:
        _print(console, Text(NO_RESULT, style="bold yellow"))
    if first := headline.verdict(findings, parts):
        _print(console, _wrapped(first, console.width, "bold"))
        if caution := headline.indicative(findings):
            _print(console, _wrapped(caution, console.width, "yellow"))
    own = findings.experiment.service
    if own:
        _statements(console, findings)
    if len(findings.comparisons) > 1:
        for comparison in findings.comparisons:
            _print(console, _wrapped(comparison.text, console.width))
    across = workload_tables(parts)
    for table in across:
        _across(console, table)
    if not across:
        _decision(console, findings, parts)
    layout = Layout(parts, console.width, ranked_by(findings))
    several = len({platform_words(view.part, view.runtime) for view in parts}) > 1
    for view in parts:
        console.print()
        _part(console, view, layout, platform_words(view.part, view.runtime) if several else "", told)
        published = published_view(view)
        if published:
            console.print()
            _published(console, published)
    for table in function_tables(parts):
        console.print()
        _functions(console, table)
    for group in lines.by_kind(findings.growth):
        if group[0].slope.name != "service_time" or any(line.published for line in group):
            console.print()
            _lines(console, group)
    if not own:
        _statements(console, findings)
    run_wide = [verdict for verdict in findings.verdicts if verdict.code != "no-result"]
    if run_wide:
        console.print()
    for verdict in run_wide:
        _verdict(console, verdict)
    console.print()
    _pointers(console, findings, page, run)


def _statements(console: Console, findings: Findings) -> None:
    """Print what follows from the rows in sentences."""
    if findings.statements:
        console.print()
    for statement in findings.statements:
        _print(console, _wrapped(statement.text, console.width))


class _SideBySide(Struct, frozen=True):
    """The table of the choice as text: a column of cells for each configuration, with its width."""

    choice: ChoiceTable
    columns: list[list[str]]
    widths: list[int]
    label: int
    """Width of the labels; longer ones are folded."""
    width: int
    """Of the whole table."""


def _side_by_side(choice: ChoiceTable) -> _SideBySide:
    columns = [[_marked(line, place) for line in choice.lines] for place in range(len(choice.columns))]
    widths = [max(LEAST, *map(cell_len, cells)) for cells in columns]
    label = min(LONGEST_LABEL, max(cell_len(_label(line)) for line in choice.lines))
    return _SideBySide(choice, columns, widths, label, label + sum(width + GAP for width in widths))


def _decision(console: Console, findings: Findings, parts: list[PartView]) -> None:
    """What a choice hangs on, configurations side by side: as many as there is room for."""
    narrower = (decision(findings, parts, room) for room in range(ROOM, 0, -1))
    tables = [_side_by_side(choice) for choice in narrower if choice]
    if not tables:
        return
    shown = next((table for table in tables if table.width <= console.width), tables[-1])
    choice = shown.choice
    table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
    table.add_column(width=shown.label, overflow="fold")
    for width in shown.widths:
        table.add_column(width=width, overflow="fold")
    table.add_row("", *(Text(head, style="bold") for head in _heads(choice, shown.widths)))
    for line, *cells in zip(choice.lines, *shown.columns, strict=True):
        style = "dim" if line.minor else ""
        values = [Text(cell, style="bold green" if place in line.best else style) for place, cell in enumerate(cells)]
        table.add_row(Text(_label(line), style=style), *values)
    console.print()
    console.print(table, highlight=False)
    notes = [MEANING] if choice.marked else []
    notes += [f"{numbers.in_words(choice.others)} more in the table below"] if choice.others else []
    _print(console, _wrapped(f"{'; '.join(notes)}{'. ' if notes else ''}{reading(choice)}", console.width, "dim"))


def _across(console: Console, across: WorkloadTable) -> None:
    """What an invocation costs in each of several workloads."""
    console.print()
    _print(console, _wrapped(across.title, console.width, "bold"))
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for head in ("", *across.heads):
        table.add_column(Text(printable(head)), overflow="fold")
    for line in across.lines:
        cells = [Text(cost.added).append(_below(cost), style="dim") for cost in line.costs]
        table.add_row(Text(printable(line.name)), *cells)
    console.print(table, highlight=False)
    _print(console, _wrapped(across.meaning, console.width, "dim"))


def _functions(console: Console, functions: FunctionTable) -> None:
    """A cold start in parts, or time inside a function, and money."""
    part = functions.view.part
    _print(console, _wrapped(f"{part.title}: {functions.title}", console.width, "bold"))
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for heading in ("", *(line.name for line in functions.lines)):
        table.add_column(Text(printable(heading)), overflow="fold")
    for head, *cells in zip(functions.heads, *(line.cells for line in functions.lines), strict=True):
        table.add_row(head, *map(Text, cells))
    console.print(table, highlight=False)
    _print(console, _wrapped(functions.meaning, console.width, "dim"))


def _below(cost: WorkloadCost) -> str:
    """What stands below a cost: the share that was delivered, and what it is of."""
    return "".join(f"\n{printable(text)}" for text in cost.further)


def _heads(choice: ChoiceTable, widths: list[int]) -> list[str]:
    """Agent and configuration, under one another, each of its lines in line with the numbers."""
    titles = [f"{title_of(row)}{f' ({caveat(row)})' if row.deferred else ''}" for row in choice.columns]
    return [
        "\n".join(f"  {line}" for text in (row.agent_name, title) for line in textwrap.wrap(printable(text), width - 2))
        for row, title, width in zip(choice.columns, titles, widths, strict=True)
    ]


def _label(line: Quantity) -> str:
    return f"  {line.label}" if line.minor else f"{line.label}{f' ({line.note})' if line.note else ''}"


def _marked(line: Quantity, place: int) -> str:
    """A cell; a mark before what is best, and room for it before the others, so that numbers line up."""
    return f"{BEST if place in line.best else ' '} {line.cells[place]}"


def _wrapped(text: str, width: int, style: str = "", indent: int = 0) -> Text:
    """Text in lines of at most ``width``, none of which ends inside a number with its half-width and unit."""
    margin = " " * indent
    lines = textwrap.wrap(
        numbers.unbroken(printable(text)),
        width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_on_hyphens=False,
    )
    return Text("\n".join(lines).replace(numbers.SPACE, " "), style=style)


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False)


def _part(console: Console, view: PartView, layout: Layout, platform: str, told: list[str]) -> None:
    """One table; ``platform`` is what it ran on, where that differs between parts; ``told`` what the run warns of."""
    part = view.part
    title = _wrapped(f"{part.title}: {workload_words(part.parameters)}", console.width, "bold")
    band = view.half_width(view.band)
    unit = time_unit(part)
    right = "" if band is None else f"A/A band (baseline against itself) ±{in_unit(band, band, unit)[1]} {unit.name}"
    gap = console.width - cell_len(title.plain) - cell_len(right)
    _print(console, title + Text(" " * gap + right if gap >= 2 else f"\n{right}" if right else ""))
    background = [*([f"on {platform}"] if platform else []), *_background(view)]
    separator = " · " if cell_len(" · ".join(background)) <= console.width else "\n"
    _print(console, Text(separator.join(background), style="dim"))
    for warning in (warning for row in view.baselines for warning in warnings_of(row, told)):
        console.print(warning, highlight=False)
    if any(group is not Group.FAILED for group in view.groups):
        console.print(layout.header())
    for group, rows in view.groups.items():
        _print(console, _wrapped(group_heading(group, rows), console.width, "italic", indent=1))
        for row in rows:
            if group is Group.FAILED:
                _failed(console, row)
            else:
                console.print(layout.row(row, group, part, told))


def _background(view: PartView) -> list[str]:
    """The baseline's time, and its build's; the number of blocks and why there are not more."""
    times: list[str] = []
    for baseline in view.baselines:
        time = time_of_call(baseline)
        if time is not None:
            unit = time_unit(view.part)
            value, margin = in_unit(time.estimate, half_width(time), unit)
            heap = f" with a heap of {numbers.size(baseline.heap_bytes)}" if times else ""
            notes = "".join(f" ({note})" for note in labels(baseline, view.part))
            times.append(f"{value}{f' ± {margin}' if margin else ''} {unit.name}{heap}{notes}")
    blocks = f"{view.part.blocks} {'block' if view.part.blocks == 1 else 'blocks'}"
    ending = f"{blocks}{', indicative' if view.part.indicative else ''}, {STOPPED[view.part.stopped]}"
    ending += "".join(f" · {words}" for words in slow_share_words(view.rows))
    built = [words for baseline in view.baselines[:1] if (words := building_words(baseline))]
    return [
        *([f"without an agent {one(call_noun(view.part))} takes {', '.join(times)}"] if times else []),
        *built,
        ending,
    ]


def _failed(console: Console, row: ConfigurationFinding) -> None:
    mark, style = SEVERITY_MARKS["error"]
    name = Text(f" {mark}  ", style=style).append(printable(f"{row.agent_name}  {title_of(row)}"), style="default")
    _print(console, name)
    verdicts = [verdict.text for verdict in errors(row)] or ["No block of it was completed."]
    for sentence in verdicts:
        console.print(Padding(Text(printable(sentence)), (0, 0, 0, 4)), highlight=False)


def _published(console: Console, view: PublishedView) -> None:
    """Ours beside the paper's: times of a call."""
    _print(console, _wrapped("beside what was published: ns per call", console.width, "italic", indent=1))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", overflow="fold", ratio=2)
    headings = ("ours\nmean ± 95 %", "ours, their\nestimator ± σ", *(f"{name} ± σ" for name in view.platforms))
    for heading in headings:
        table.add_column(Text(heading), justify="right", overflow="fold")
    for line in view.lines:
        name = Text(printable(f"{line.row.agent_name} {line.title}"))
        table.add_row(name, *(_cell(cell) for cell in (line.ours, line.estimator, *line.platforms)))
    console.print(Padding(table, (0, 0, 0, 4)))


def _lines(console: Console, group: tuple[GrowthFinding, ...]) -> None:
    """Lines through one cost over a count."""
    first = group[0]
    title = f"A line through {lines.OF[first.slope.name]}, over {lines.counted_words(first)}"
    _print(console, _wrapped(title, console.width, "italic", indent=1))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", overflow="fold", ratio=2)
    for heading in (lines.FURTHER[first.factor].replace(" further", "\nfurther"), "fixed", "R²"):
        table.add_column(Text(heading), justify="right", overflow="fold")
    for line in group:
        name = Text(printable(f"{line.agent_name} {title_of(line)}"))
        if notes := lines.notes(line):
            name.append(f" ({notes})", style="dim")
        table.add_row(name, measured_time(line.slope), measured_time(line.intercept), lines.r_squared(line))
        for printed in line.published:
            table.add_row(f"  {printable(lines.printed_title(printed))}", *lines.printed_cells(printed), style="dim")
    console.print(Padding(table, (0, 0, 0, 4)), highlight=False)


def _cell(cell: TimePerCall | None) -> Text:
    if cell is None:
        return Text("–", style="dim")
    value, spread = numbers.measured(cell.estimate, cell.spread)
    return Text(f"{value} ± {spread}" if spread else value)


def _verdict(console: Console, verdict: Verdict) -> None:
    mark, style = SEVERITY_MARKS[verdict.severity]
    table = Table.grid(padding=(0, 1))
    table.add_row(Text(mark, style=style), Text(printable(verdict.text)))
    console.print(table, highlight=False)


def _pointers(console: Console, findings: Findings, page: Path | None, run: Path) -> None:
    lines = [("Page", shown_path(page))] if page else []
    if findings.experiment.result:
        lines.append(next_line(findings, run))
    width = max((len(name) for name, _ in lines), default=0)
    for name, value in lines:
        console.print(f"{name:<{width}}  {printable(value)}", highlight=False, markup=False, soft_wrap=True)
