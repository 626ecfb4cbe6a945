"""The trials behind every row of the page, and how to pick them out of the run's Parquet files."""

from collections import defaultdict
from collections.abc import Sequence

from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, section, who
from tracetax.report.views import PartView, baseline_title, rows_id, title_of, workload_words
from tracetax.results.findings import ConfigurationFinding
from tracetax.results.records import OUTSIDE_BLOCKS, Cell, TrialRecord

READING = "Every number of a row is computed from these trials; struck out: failed or repeated, and not counted."
MORE = (
    "Each trial's folder holds its record. The filter picks its values from measures.parquet, which has one row per "
    "trial and measure; series.parquet and distributions.parquet are keyed by the trial's number."
)
TrialsByRow = dict[Cell, list[TrialRecord]]


def behind(parts: list[PartView], trials: Sequence[TrialRecord]) -> Markup:
    """The section with one table per part."""
    by_row: TrialsByRow = defaultdict(list)
    memory: TrialsByRow = defaultdict(list)
    for trial in trials:
        by_row[trial.cell.row].append(trial)
        if trial.cell.role == "memory":
            memory[trial.cell.row].append(trial)
    tables = [_part(view, by_row, memory) for view in parts]
    return section(
        "rows",
        "The rows behind it",
        caption(READING, "measures.parquet", "series.parquet", "distributions.parquet", more=MORE),
        h("div", tables, id=BEHIND[1:]),
        folded=True,
    )


def _part(view: PartView, by_row: TrialsByRow, memory: TrialsByRow) -> Markup:
    headings = [
        h("th", name, class_=class_, scope="col")
        for name, class_ in (("Agent and configuration", "name"), ("Trials", ""), ("Filter", ""))
    ]
    rows: list[Markup] = []
    twins = [filter_of(row) for row in view.baselines]
    for row in (*view.baselines, *view.rows):
        timed = [trial for trial in by_row[row.cell] if trial.cell.role not in OUTSIDE_BLOCKS]
        condition = filter_of(row)
        if twins.count(condition) > 1:
            condition += f" AND trial IN ({', '.join(str(trial.number) for trial in timed)})"
        rows.append(_row(row, condition, timed, memory[row.cell]))
    return h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        h("tbody", rows),
        class_="wide behind",
    )


def _row(row: ConfigurationFinding, condition: str, timed: list[TrialRecord], memory: list[TrialRecord]) -> Markup:
    title = baseline_title(row) if row.is_baseline else title_of(row)
    of_memory: Child = [" · memory ", _links(memory)] if memory else None
    return h(
        "tr",
        h("th", who(row.agent_name, title), class_="name", scope="row"),
        h("td", _links(timed) if timed else "none", of_memory),
        h("td", h("code", condition), class_="filter"),
        id=rows_id(row),
        tabindex=-1,
    )


def _links(trials: list[TrialRecord]) -> list[Child]:
    last: dict[tuple[int, str], int] = {}
    for trial in trials:
        if trial.status == "ok":
            last[trial.block, trial.cell.role] = trial.number
    links: list[Child] = []
    for number, trial in enumerate(trials):
        link = h("a", str(trial.number), href=f"trials/{trial.number:04d}/record.json")
        counted = last.get((trial.block, trial.cell.role)) == trial.number
        links += [", " if number else None, link if counted else h("s", link)]
    return links


def filter_of(row: ConfigurationFinding) -> str:
    """A condition in SQL, as DuckDB or Polars take it."""
    names = {"part": row.part, "agent": row.agent, "configuration": row.configuration}
    names |= {"build": row.build} if row.build else {}
    names |= {"backend": row.backend} if row.backend else {}
    return " AND ".join(f"{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in names.items())
