"""The answer of a search for the highest complete rate, in the terminal: a table, and a sentence for each row."""

import textwrap

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tracetax.model import FULL
from tracetax.printable import printable
from tracetax.report import numbers
from tracetax.results.capacity import Capacity, CapacityEnd, CapacityFinding
from tracetax.statistics.intervals import Estimate

OUTCOMES = {
    "bracket": "",
    "full-speed": "nothing lost at full speed",
    "none-complete": "loses at the lowest rate",
    "none-made": "lowest rate not made",
    "unfinished": "not ended",
    "failed": "failed",
}
AT_USAGE = OUTCOMES | {"none-made": "not reached"}


def render_capacity(capacity: Capacity, console: Console) -> None:
    """Print what a search has found; fits 80 columns."""
    console.print()
    console.print(_of_usage(capacity) if capacity.search.usage else _of_brackets(capacity))
    console.print()
    for row in capacity.configurations:
        for text in (row.text, hidden_words(row)):
            if text:
                console.print(Text(textwrap.fill(printable(text), console.width)), highlight=False)


def _of_usage(capacity: Capacity) -> Table:
    """The rate at which each configuration uses so much CPU, and what that is to the rate without an agent."""
    assert capacity.search.usage
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("", overflow="fold", ratio=2)
    for heading in (f"requests/s at\n{capacity.search.usage.text}", "± 95 %", "to no agent", "± 95 %"):
        table.add_column(Text(heading), justify="right", overflow="fold")
    table.add_column("", overflow="fold")
    for row in capacity.configurations:
        found = row.at_usage
        cells = ["–", "", "", ""] if found is None else [f"{found.rate.mean:,.0f}", half_of(found.rate, ",.0f"), "", ""]
        if found and found.ratio:
            cells[2:] = f"{found.ratio.mean:.2f} ×", half_of(found.ratio, ".2f")
        table.add_row(Text(printable(row.title)), *map(Text, cells), Text(AT_USAGE[row.outcome], style="yellow"))
    return table


def half_of(estimate: Estimate, form: str) -> str:
    """Half of an interval's width in a form such as ``.2f``; empty where there is no interval."""
    return "" if estimate.ci95 is None else format((estimate.ci95[1] - estimate.ci95[0]) / 2, form)


def _of_brackets(capacity: Capacity) -> Table:
    """The two rates of each configuration."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("", overflow="fold", ratio=2)
    objective = capacity.search.objective
    ends = ("complete at\ncalls/s", "incomplete at\ncalls/s")
    if objective:
        ends = (f"{objective.text}\nat requests/s", "not at\nrequests/s")
    for heading in (ends[0], "in trials", ends[1], "in trials"):
        table.add_column(Text(heading), justify="right", overflow="fold")
    table.add_column("", overflow="fold")
    for row in capacity.configurations:
        table.add_row(Text(printable(row.title)), *_cells(row), Text(OUTCOMES[row.outcome], style="yellow"))
    return table


def hidden_words(row: CapacityFinding) -> str:
    """What the length of a trial cannot show, in words; empty where there is no queue to speak of."""
    if row.hidden_per_second is None or row.outcome != "bracket":
        return ""
    return (
        f"  Its queue can take in {numbers.per_second([row.hidden_per_second], 'calls')} more than it carries for as "
        "long as a trial lasts, so in the long run it carries up to that much less."
    )


def _cells(row: CapacityFinding) -> tuple[Text, Text, Text, Text]:
    low, high = row.complete_at, row.incomplete_at
    held = "" if low is None else f"{low.complete} of {low.trials}"
    return _rate(low), Text(held), _rate(high), Text(_missed(high))


def _missed(high: CapacityEnd | None) -> str:
    if high is None:
        return ""
    return f"{high.lossy} of {high.trials}" if high.lossy else "not made"


def _rate(end: CapacityEnd | None) -> Text:
    if end is None:
        return Text("–", style="dim")
    return Text("full speed" if end.rate == FULL else numbers.count(round(float(end.rate))))
