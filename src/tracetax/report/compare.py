"""Two runs beside each other: in the terminal, and as Markdown to paste into a pull request."""

import textwrap
from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tracetax.analysis.compare import Change, Difference, RowChange, RunComparison
from tracetax.printable import printable
from tracetax.report import numbers
from tracetax.report.views import half_width
from tracetax.results.findings import Measure
from tracetax.words import one

NAMES = {
    "overhead": "overhead per {per}",
    "cpu": "CPU per {per}",
    "service_time": "time of {one}",
    "response_time": "time of {one}",
    "service_time_p99": "p99 of {one}",
    "response_time_p99": "p99 of {one}",
    "startup_first_call": "start to first {noun}",
}
"""Measures that are shown; the others are in the JSON."""
TIMES = ("service_time", "response_time")
"""Of a row's two, the one that its kind compares is there."""
NOT_PAIRED = (
    "Blocks of two runs are no pairs: the intervals are Welch's, from mean, deviation and number of blocks of each. "
    "Each has a risk of 5 % by itself. What else changed on the machine between the runs is in the difference; the "
    "baselines show how much that was. To compare two builds, measure them in one run: --artifact AGENT.NAME=OLD,NEW"
)
OTHER_MACHINES = (
    "The machines differ, so no verdict follows: a difference may be theirs. The numbers stand side by side."
)
HEADINGS = ("", "first", "second", "difference", "ratio, 95 %", "")


class ComparedMeasure(Struct, frozen=True):
    """One measure of one row, in words."""

    name: str
    first: str
    second: str
    difference: str
    ratio: str
    verdict: str

    @property
    def cells(self) -> tuple[str, ...]:
        """Its words in the order of the table's columns."""
        return (self.name, self.first, self.second, self.difference, self.ratio, self.verdict)


def render_comparison(comparison: RunComparison, console: Console) -> None:
    """Print what differs, then the baselines, then every row that both runs have."""
    for number, run in zip(("first ", "second"), comparison.runs, strict=True):
        console.print(f"{number}  {printable(run)}", soft_wrap=True)
    console.print()
    if comparison.differences:
        _differences(comparison.differences, console)
    else:
        _told("Machine, versions and settings are the same.", console)
    if not comparison.same_machine:
        _told(OTHER_MACHINES, console, "bold yellow")
    if not comparison.rows:
        _told("No row is in both runs.", console)
    for title, rows in _groups(comparison):
        console.print()
        console.print(Text(printable(title), "bold"))
        _table(rows, console)
    for name, only in (("first", comparison.only_first), ("second", comparison.only_second)):
        if only:
            console.print()
            _told(f"Only in the {name} run: {', '.join(only)}.", console)
    console.print()
    if comparison.same_machine:
        for text in (*moved_baselines(comparison), NOT_PAIRED):
            _told(text, console)


def comparison_markdown(comparison: RunComparison) -> str:
    """What two runs differ in, then their rows side by side, as Markdown without HTML and links."""
    first, second = (_escaped(run) for run in comparison.runs)
    blocks = [f"**{second}** against **{first}**"]
    if comparison.differences:
        rows = [
            f"| {_escaped(difference.what)} | {_escaped(difference.first)} | {_escaped(difference.second)} |"
            for difference in comparison.differences
        ]
        blocks.append("\n".join(("| differs | first | second |", "| --- | --- | --- |", *rows)))
    else:
        blocks.append("Machine, versions and settings are the same.")
    if not comparison.same_machine:
        blocks.append(f"**{OTHER_MACHINES}**")
    for title, rows in _groups(comparison):
        lines = [f"**{_escaped(title)}**", ""]
        lines += [
            "| row | measure | first | second | difference | ratio, 95 % | |",
            "| --- | --- | --: | --: | --: | --: | --- |",
        ]
        lines += [
            f"| {_escaped(row_name(row))} | {' | '.join(map(_escaped, line.cells))} |"
            for row in rows
            for line in _lines(row)
        ]
        blocks.append("\n".join(lines))
    for name, only in (("first", comparison.only_first), ("second", comparison.only_second)):
        blocks += [_escaped(f"Only in the {name} run: {', '.join(only)}.")] if only else []
    if comparison.same_machine:
        blocks += [f"> {_escaped(text)}" for text in (*moved_baselines(comparison), NOT_PAIRED)]
    return "\n\n".join(blocks) + "\n"


def moved_baselines(comparison: RunComparison) -> Iterator[str]:
    """A sentence for each part whose baselines, the same program in both runs, took another time."""
    for row in comparison.baselines:
        change = next((change for change in row.changes if change.name in TIMES), None)
        if change and change.ratio and change.verdict in ("more", "less"):
            share = abs(change.ratio.estimate - 1)
            than = "longer" if change.verdict == "more" else "less long"
            yield (
                f"{row.part_title}: without an agent {one(row.noun)} took {numbers.percent(share)} {than} in the "
                "second run. That much of any difference may be the machine's."
            )


def row_name(row: RowChange) -> str:
    """An agent with its configuration, build and backend."""
    build = f" [{row.build}]" if row.build else ""
    return f"{row.agent_name} {row.title}{build}" + (f" → {row.backend}" if row.backend else "")


def _groups(comparison: RunComparison) -> list[tuple[str, list[RowChange]]]:
    """The rows by part, its baselines first."""
    groups: dict[str, list[RowChange]] = {}
    for row in (*comparison.baselines, *comparison.rows):
        groups.setdefault(row.part_title, []).append(row)
    return list(groups.items())


def _lines(row: RowChange) -> Iterator[ComparedMeasure]:
    per_record = any(change.name == "cpu" and change.per == "record" for change in row.changes)
    for change in row.changes:
        baseline = not any(change.name == "overhead" for change in row.changes)
        beside = change.name in TIMES and not baseline
        twice = change.name == "cpu" and change.per != "record" and per_record
        if change.name in NAMES and not beside and not twice:
            yield _line(change, row.noun)
    before, after = row.completeness
    if before is not None and after is not None and min(before, after) < 1:
        yield ComparedMeasure("records that arrived", numbers.percent(before), numbers.percent(after), "", "", "")


def _line(change: Change, noun: str) -> ComparedMeasure:
    difference = "–"
    if change.ci95:
        half = (change.ci95[1] - change.ci95[0]) / 2
        difference = " ± ".join(numbers.measured_duration(change.difference, half)[:2])
        difference += f" {numbers.measured_duration(change.difference, half)[2]}"
    ratio = ""
    if change.ratio:
        low, high = change.ratio.ci95
        spread = (high - low) / 2
        digits = numbers.fine(change.ratio.estimate, spread)[0]
        ratio = f"× {digits} ({numbers.fine(low, spread)[0]} to {numbers.fine(high, spread)[0]})"
    name = NAMES[change.name].format(per=noun if change.per == "call" else change.per, noun=noun, one=one(noun))
    verdict = change.verdict or ("one block" if not change.ci95 and change.first.n_blocks < 2 else "")
    return ComparedMeasure(name, _duration(change.first), _duration(change.second), difference, ratio, verdict)


def _duration(of: Measure) -> str:
    value, width, unit = numbers.measured_duration(of.estimate, half_width(of))
    return f"{value} ± {width} {unit}" if width else f"{value} {unit}"


def _differences(differences: Sequence[Difference], console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("what differs", "first", "second"):
        table.add_column(heading, overflow="fold")
    for difference in differences:
        table.add_row(*(Text(printable(word)) for word in (difference.what, difference.first, difference.second)))
    console.print(table)


def _table(rows: Sequence[RowChange], console: Console) -> None:
    """A line per row, and below it one per measure; where the terminal is narrow, a measure takes several."""
    lines = {id(row): list(_lines(row)) for row in rows}
    every = [line.cells for measures in lines.values() for line in measures]
    widths = [max(map(cell_len, column)) for column in zip(HEADINGS, *every, strict=True)]
    wide = sum(widths) + 2 * len(widths) + 2 <= console.width
    if wide:
        console.print(Text(f"  {_joined(HEADINGS, widths)}", "dim"))
    for row in rows:
        console.print(Text(printable(row_name(row)), "bold" if console.is_terminal else ""), soft_wrap=True)
        for line in lines[id(row)]:
            if wide:
                console.print(Text(f"  {_joined(line.cells, widths)}".rstrip()))
                continue
            console.print(Text(f"  {line.name}: {line.first} → {line.second}"), soft_wrap=True)
            rest = ", ".join(text for text in (line.difference, line.ratio, line.verdict) if text)
            if rest not in ("", "–"):
                console.print(Text(f"    {rest}"), soft_wrap=True)


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Cells as columns: the first and the last to the left, numbers to the right."""
    last = len(cells) - 1
    return "  ".join(
        f"{cell:<{width}}" if place in (0, last) else f"{cell:>{width}}"
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )


def _told(text: str, console: Console, style: str = "") -> None:
    console.print(Text("\n".join(textwrap.wrap(printable(text), console.width, break_on_hyphens=False)), style))


def _escaped(text: str) -> str:
    for letter in "\\|*_<>`[]":
        text = text.replace(letter, f"\\{letter}")
    return " ".join(text.split())
