"""The answer in the terminal: how builds compare, one table per part, then the sentences, then where to read on."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracetax.report import lines, numbers, sentences
from tracetax.report.columns import Layout, plain
from tracetax.report.published import Cell, PublishedView, published_view
from tracetax.report.views import (
    NO_RESULT,
    STOPPED,
    Group,
    PartView,
    errors,
    group_heading,
    half_width,
    labels,
    measure,
    next_line,
    platform_words,
    shown_path,
    title_of,
    views,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Findings, GrowthFinding
from tracetax.results.records import Verdict

SEVERITY_MARKS = {"error": ("✗", "red"), "warning": ("⚠", "yellow"), "note": ("·", "dim")}


def render(findings: Findings, console: Console, page: Path | None, run: Path) -> None:
    """Print a run's answer. ``page`` is the written report, if any; ``run`` the run's folder.

    Fits 80 columns; below that labels and CPU move under their row. Colour only where the console is a terminal.
    """
    if not findings.experiment.result:
        _print(console, Text(NO_RESULT, style="bold yellow"))
    if findings.comparisons:
        console.print()
    for comparison in findings.comparisons:
        _print(console, _wrapped(comparison.text, console.width, "bold"))
    parts = views(findings)
    layout = Layout(parts, console.width)
    several = len({platform_words(view.part) for view in parts}) > 1
    for view in parts:
        console.print()
        _part(console, view, layout, platform=platform_words(view.part) if several else "")
        published = published_view(view)
        if published:
            console.print()
            _published(console, published)
    for group in lines.by_kind(findings.growth):
        if group[0].slope.name != "service_time" or any(line.published for line in group):
            console.print()
            _lines(console, group)
    console.print()
    for statement in findings.statements:
        _print(console, _wrapped(statement.text, console.width))
    service = sentences.service(parts)
    if service:
        _print(console, _wrapped(service, console.width))
    for verdict in _verdicts(findings):
        _verdict(console, verdict)
    console.print()
    _pointers(console, findings, page, run)


def _wrapped(text: str, width: int, style: str = "", indent: int = 0) -> Text:
    """Text in lines of at most ``width``, none of which ends inside a number with its half-width and unit."""
    margin = " " * indent
    lines = textwrap.wrap(
        numbers.unbroken(plain(text)), width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )
    return Text("\n".join(lines).replace(numbers.SPACE, " "), style=style)


def _print(console: Console, text: Text) -> None:
    console.print(text, highlight=False)


def _part(console: Console, view: PartView, layout: Layout, platform: str) -> None:
    """One table; ``platform`` is what it ran on, where that differs between parts."""
    part = view.part
    title = _wrapped(f"{part.title}: {workload_words(part.parameters)}", console.width, "bold")
    band = view.half_width(view.band)
    right = "" if band is None else f"A/A band ±{numbers.measured(band, band)[1]} ns"
    gap = console.width - cell_len(title.plain) - cell_len(right)
    _print(console, title + Text(" " * gap + right if gap >= 2 else f"\n{right}" if right else ""))
    background = [*([f"on {platform}"] if platform else []), *_background(view)]
    separator = " · " if cell_len(" · ".join(background)) <= console.width else "\n"
    _print(console, Text(separator.join(background), style="dim"))
    if any(group is not Group.FAILED for group in view.groups):
        console.print(layout.header())
    for group, rows in view.groups.items():
        _print(console, _wrapped(group_heading(group, rows), console.width, "italic", indent=1))
        for row in rows:
            if group is Group.FAILED:
                _failed(console, row)
            else:
                console.print(layout.row(row, group, part))


def _background(view: PartView) -> list[str]:
    """The baseline's time, and its build's; the number of blocks and why there are not more."""
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
    built = [words for baseline in view.baselines[:1] if (words := sentences.building(baseline))]
    return [*([f"without an agent a call takes {', '.join(times)}"] if times else []), *built, ending]


def _failed(console: Console, row: ConfigurationFinding) -> None:
    mark, style = SEVERITY_MARKS["error"]
    name = Text(f" {mark}  ", style=style).append(plain(f"{row.agent_name}  {title_of(row)}"), style="default")
    _print(console, name)
    verdicts = [verdict.text for verdict in errors(row)] or ["No block of it was completed."]
    for sentence in verdicts:
        console.print(Padding(Text(plain(sentence)), (0, 0, 0, 4)), highlight=False)


def _published(console: Console, view: PublishedView) -> None:
    """Ours beside the paper's: times of a call."""
    _print(console, _wrapped("beside what was published: ns per call", console.width, "italic", indent=1))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", overflow="fold", ratio=2)
    headings = ("ours\nmean ± 95 %", "ours, their\nestimator ± σ", *(f"{name} ± σ" for name in view.platforms))
    for heading in headings:
        table.add_column(Text(heading), justify="right", overflow="fold")
    for line in view.lines:
        name = Text(plain(f"{line.row.agent_name} {line.title}"))
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
        name = Text(plain(f"{line.agent_name} {title_of(line)}"))
        if notes := lines.notes(line):
            name.append(f" ({notes})", style="dim")
        table.add_row(name, sentences.duration(line.slope), sentences.duration(line.intercept), lines.r_squared(line))
        for printed in line.published:
            table.add_row(f"  {plain(lines.printed_title(printed))}", *lines.printed_cells(printed), style="dim")
    console.print(Padding(table, (0, 0, 0, 4)), highlight=False)


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return Text("–", style="dim")
    value, spread = numbers.measured(cell.estimate, cell.spread)
    return Text(f"{value} ± {spread}" if spread else value)


def _verdicts(findings: Findings) -> Iterator[Verdict]:
    """What a reader of the table must know: the run's verdicts and the rows' warnings. Errors stand in their row.

    What the run has a verdict on is not repeated for each row: the page has it.
    """
    yield from (verdict for verdict in findings.verdicts if verdict.code != "no-result")
    told = {verdict.code for verdict in findings.verdicts}
    titles = {part.name: part.title for part in findings.experiment.parts}
    for row in findings.configurations:
        where = f"{row.agent_name}, {title_of(row)}" + (
            f" ({titles.get(row.part, row.part)})" if len(titles) > 1 else ""
        )
        for verdict in row.verdicts:
            if verdict.severity == "warning" and verdict.code not in told:
                yield replace(verdict, text=f"{where}: {verdict.text}")


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
