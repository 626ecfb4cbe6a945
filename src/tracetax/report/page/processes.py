"""Where a request's CPU goes: the service, its database, the load and the receiver of records, as stacked bars."""

from msgspec import Struct

from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import (
    BEHIND,
    Markup,
    caption,
    h,
    pattern_of,
    plus_minus,
    scrolling,
    section,
    swatch,
    who,
)
from tracetax.report.views import (
    PartView,
    baseline_title,
    caveat,
    errors,
    half_width,
    measure,
    rows_id,
    title_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName

PROCESSES: dict[str, tuple[MeasureName, str]] = {
    "program": ("cpu_of_program", "service"),
    "stores": ("cpu_of_stores", "database"),
    "load": ("cpu_of_load", "load"),
    "receiver": ("cpu_of_receiver", "receiver of records"),
}
"""By their segments: the measure, and what they are called."""
BAR = 14
LEAST_WIDTH = 0.05
"""Of a segment that is drawn, in per cent."""
READING = "From zero, one segment for each process; the first row is the service without an agent."
MORE = (
    "CPU of all threads, per request, from the first request until the last record had arrived; of the load until the "
    "last answer. Nothing is taken off. Only the service's is the agent's cost as it is ranked; what database and "
    "load take depends on the service alone, and on few cores they compete with it. The receiver stands for what the "
    "agent sends to, and runs elsewhere in real life."
)


class RequestSplit(Struct, frozen=True):
    """A row and what its processes took of a request, ns."""

    row: ConfigurationFinding
    parts: dict[str, Measure]

    @property
    def total(self) -> float:
        """All together."""
        return sum(part.estimate for part in self.parts.values())


def processes(parts: list[PartView]) -> Markup | None:
    """The section with one table per part; None where no service was measured."""
    by_part = [(view, splits) for view in parts if (splits := _splits(view))]
    if not by_part:
        return None
    shown = {key: words for key, (_, words) in PROCESSES.items() if _is_told(key, by_part)}
    key = [h("span", swatch(name), words) for name, words in shown.items()]
    return section(
        "processes",
        "Where a request's CPU goes",
        caption(READING, "findings.json", "measures.parquet", BEHIND, more=MORE),
        h("p", key, class_="key caption"),
        [_part(view, splits, shown) for view, splits in by_part],
        folded=True,
    )


def _is_told(key: str, by_part: list[tuple[PartView, list[RequestSplit]]]) -> bool:
    return any(key in split.parts for _, splits in by_part for split in splits)


def _splits(view: PartView) -> list[RequestSplit]:
    splits: list[RequestSplit] = []
    for row in (*view.baselines, *view.rows):
        parts = {key: of for key, (name, _) in PROCESSES.items() if (of := measure(row, name))}
        splits += [RequestSplit(row, parts)] if "program" in parts and not errors(row) else []
    return splits


def _part(view: PartView, splits: list[RequestSplit], shown: dict[str, str]) -> Markup:
    axis = axes.linear([split.total for split in splits], axes.NARROW)
    headings = [
        h("th", "Agent and configuration", class_="name", scope="col"),
        h("th", "CPU of a request", class_="plot", scope="col"),
        *(h("th", f"{words}, µs", class_="number", scope="col") for words in shown.values()),
        h("th", "all, µs", class_="number", scope="col"),
    ]
    scale = h("td", axes.tick_labels(axis, as_duration=True), class_="plot")
    foot = h("tr", h("td"), scale, [h("td") for _ in range(len(shown) + 1)])
    table = h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        h("tbody", [_row(split, axis, shown) for split in splits]),
        h("tfoot", foot, aria_hidden="true"),
        class_="wide strips splits",
    )
    return scrolling(f"{view.part.title}: where a request's CPU goes", table)


def _row(split: RequestSplit, axis: Axis, shown: dict[str, str]) -> Markup:
    row = split.row
    title = baseline_title(row) if row.is_baseline else title_of(row)
    cells = [
        h("td", _microseconds(split.parts.get(key)), class_="number", data_label=words) for key, words in shown.items()
    ]
    return h(
        "tr",
        h("th", who(row.agent_name, title, rows_id(row), caveat(row)), class_="name", scope="row"),
        h("td", _bar(split, axis), class_="plot"),
        cells,
        h("td", numbers.rounded(split.total / 1e3, 0), class_="number", data_label="all"),
    )


def _microseconds(of: Measure | None) -> Markup | str:
    if of is None:
        return "–"
    half = half_width(of)
    return plus_minus(*numbers.measured(of.estimate / 1e3, half / 1e3 if half is not None else None))


def _bar(split: RequestSplit, axis: Axis) -> Markup:
    segments: list[Markup] = []
    reached = 0.0
    for name, part in split.parts.items():
        low, reached = reached, reached + part.estimate
        width = (axis.share(reached) - axis.share(low)) * 100
        if width > LEAST_WIDTH:
            place = {"x": axis.at(low), "y": "50%", "width": f"{width:.2f}%", "height": str(BAR)}
            segments.append(h("rect", **place, **pattern_of(name), class_=f"part {name}"))
    return h("svg", axes.grid(axis), segments, class_="strip bar", aria_hidden="true", focusable="false")
