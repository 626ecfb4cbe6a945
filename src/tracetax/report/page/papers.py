"""The papers beside us: what was printed for the rows that the experiment reproduces."""

from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section, who
from tracetax.report.published import PublishedView, ReproducedRow, TimePerCall, published_view
from tracetax.report.views import PartView, caveat, rows_id, workload_words

READING = (
    "Filled: ours. Diamond: ours by their estimator. Hollow: printed. Compare the ratio to the baseline of the same "
    "column (×)."
)
MORE = (
    "Time of a call, logarithmic: times of different machines differ. Ours is the mean of the steady part with its "
    "95 % interval; the paper's estimator is the mean of the second half over all starts with its standard "
    "deviation; what was printed stands with the standard deviation that was printed."
)


def papers(parts: list[PartView], paper: str | None) -> Markup | None:
    """The section with one table per part that reproduces something; None where nothing was published."""
    tables = [_part(view, printed) for view in parts if (printed := published_view(view))]
    if not tables:
        return None
    source = h("p", "After ", h("cite", paper), ".", class_="caption") if paper else None
    return section(
        "papers", "Beside what was published", caption(READING, "findings.json", BEHIND, more=MORE), source, tables
    )


def _part(view: PartView, printed: PublishedView) -> Markup:
    axis = axes.logarithmic([cell.estimate for line in printed.lines for cell in _cells(line) if cell])
    names = ("ours, mean ± 95 %", "ours, their estimator ± σ", *(f"{platform} ± σ" for platform in printed.platforms))
    headings = [
        h("th", "Agent and configuration", class_="name", scope="col"),
        h("th", "Time of a call", class_="plot", scope="col"),
        *(h("th", f"{name}, ns", class_="number", scope="col") for name in names),
    ]
    scale = h("td", axes.tick_labels(axis, as_duration=True), class_="plot")
    table = h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        h("tbody", [_row(line, axis, names) for line in printed.lines]),
        h("tfoot", h("tr", h("td"), scale, [h("td") for _ in names]), aria_hidden="true"),
        class_="wide strips papers",
    )
    return scrolling(f"{view.part.title}: beside what was published", table)


def _cells(line: ReproducedRow) -> tuple[TimePerCall | None, ...]:
    return line.ours, line.estimator, *line.platforms


def _row(line: ReproducedRow, axis: Axis, names: tuple[str, ...]) -> Markup:
    source = next((cell.source for cell in line.platforms if cell), "")
    return h(
        "tr",
        h(
            "th",
            who(line.row.agent_name, line.title, rows_id(line.row), caveat(line.row)),
            h("small", source) if source else None,
            class_="name",
            scope="row",
        ),
        h("td", _plot(line, axis), class_="plot"),
        [
            h("td", _value(cell), class_="number", data_label=name)
            for name, cell in zip(names, _cells(line), strict=True)
        ],
    )


def _value(cell: TimePerCall | None) -> Child:
    if cell is None:
        return "–"
    ratio = h("small", f"× {numbers.significant(cell.times_baseline, 3)}") if cell.times_baseline else None
    return [plus_minus(*numbers.measured(cell.estimate, cell.spread)), ratio]


def _plot(line: ReproducedRow, axis: Axis) -> Markup:
    marks: list[Markup] = []
    for cell in line.platforms:
        if cell:
            marks.append(h("circle", cx=axis.at(cell.estimate), cy="50%", r="4", class_="mark printed"))
    if line.estimator:
        shape = h("path", d="M0-4.5 4.5 0 0 4.5-4.5 0Z", class_="mark estimator")
        marks.append(h("svg", shape, x=axis.at(line.estimator.estimate), y="50%", overflow="visible"))
    if line.ours:
        marks.append(h("circle", cx=axis.at(line.ours.estimate), cy="50%", r="2.5", class_="mark"))
    return h("svg", axes.grid(axis), marks, class_="strip filled", aria_hidden="true", focusable="false")
