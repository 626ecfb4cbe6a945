"""How cost grows with one parameter, where parts of a run differ in exactly that one."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tracetax.analysis.growth import Family, by_configuration, families
from tracetax.kinds import declaration_of
from tracetax.report import lines as words
from tracetax.report import numbers
from tracetax.report.page.footprint import value as with_unit
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section, who
from tracetax.report.views import MeasureOf, PartView, baseline_title, cpu, half_width, measure, overhead, title_of
from tracetax.results.findings import ConfigurationFinding, GrowthFinding, Measure, PublishedLineValue

FACTORS = {
    "rate": "calls/s",
    "depth": "invocations per call",
    "threads": "calling threads",
    "method_time_ns": "work at the leaf",
    "start_up_monitored": "monitored methods at the start",
}
WIDE = 20
"""Ratio of the largest to the smallest value from which the axis is logarithmic."""
READING = (
    "Left to right the parameter grows; from zero at the bottom, each plot on its own scale. A flat line does not "
    "depend on it."
)
MORE = (
    "Parts of this run that differ in this parameter only, and in the number of calls. Bars are 95 % intervals; a "
    "hollow point is a part in which records were missing. In the plots, lines join what was measured and promise "
    f"nothing between. {words.MEANINGS}"
)
CostKind = tuple[str, MeasureOf]
OF_CALLS: tuple[CostKind, ...] = (("CPU per record, ns", cpu), ("overhead per invocation, ns", overhead))
ONCE: tuple[CostKind, ...] = (
    ("added to start to first call", lambda row: measure(row, "startup_first_call_added")),
    ("added to the build", lambda row: measure(row, "build_time_added")),
    ("added to the build's CPU", lambda row: measure(row, "build_cpu_added")),
)
OF_RESPONSES: tuple[CostKind, ...] = (
    ("median response time", lambda row: measure(row, "response_time_median")),
    ("p99 of response times", lambda row: measure(row, "response_time_p99")),
)
OF_REQUESTS: tuple[CostKind, ...] = (("CPU of a request, added", cpu), *OF_RESPONSES)
KINDS = dict.fromkeys(FACTORS, OF_CALLS) | {"start_up_monitored": ONCE}
"""What grows with each factor: the cost of calls, or what is paid once. Of services it is ``OF_REQUESTS``."""


def growth(parts: list[PartView], lines: Sequence[GrowthFinding]) -> Markup | None:
    """The section with one table per factor, and the lines through it; None where no parameter was varied alone."""
    rows = [row for view in parts for row in (*view.baselines, *view.rows)]
    tables: list[Markup] = []
    for family in families([view.part for view in parts]):
        if table := _table(family, rows):
            tables.append(table)
            tables += _lines([line for line in lines if line.factor == family.factor and _within(line, family)])
    if not tables:
        return None
    return section(
        "growth",
        "How it grows",
        caption(READING, "findings.json", "measures.parquet", BEHIND, more=MORE),
        tables,
        folded=True,
    )


def _within(line: GrowthFinding, family: Family) -> bool:
    return set(line.parts) <= {part.name for _, part in family.points}


def _table(family: Family, rows: list[ConfigurationFinding]) -> Markup | None:
    """One factor's table; None where nothing was measured that grows with it."""
    shown = [_shown(family.factor, value) for value, _ in family.points]
    bodies = [body for points in by_configuration(family, rows) if (body := _rows(family, points, shown))]
    if not bodies:
        return None
    factor = FACTORS[family.factor].replace("calls", f"{declaration_of(family.points[0][1].parameters).noun}s")
    over = f"{factor}{f' ({family.levels})' if family.levels else ''}"
    headings = [
        h("th", "Agent and configuration", class_="name", scope="col"),
        h("th", "Of what", class_="kind", scope="col"),
        h("th", f"over {factor}", class_="plot", scope="col"),
        *(h("th", text, class_="number", scope="col") for text in shown),
    ]
    table = h(
        "table",
        h("caption", f"Over {over}"),
        h("thead", h("tr", headings)),
        bodies,
        class_="wide strips lines",
    )
    return scrolling(f"Cost over {over}", table)


def _shown(factor: str, value: float) -> str:
    if factor == "method_time_ns":
        return numbers.duration(value)
    return f"{value:,.10g}{'/s' if factor == 'rate' else ''}"


def _rows(family: Family, rows: list[ConfigurationFinding | None], shown: list[str]) -> Markup | None:
    model = next(row for row in rows if row)
    of_calls = declaration_of(model.parameters).calls_itself
    told = KINDS[family.factor] if of_calls else OF_REQUESTS
    kinds = [(name, [of(row) if row else None for row in rows]) for name, of in told]
    kinds = [(name, costs) for name, costs in kinds if any(costs)]
    if not kinds:
        return None
    whole = [row is None or not row.records.blocks_incomplete for row in rows]
    title = baseline_title(model) if model.is_baseline else title_of(model)
    name = h("th", who(model.agent_name, title), class_="name", scope="rowgroup", rowspan=len(kinds))
    return h(
        "tbody",
        [
            h(
                "tr",
                name if number == 0 else None,
                h("td", _kind(kind, costs), class_="kind"),
                h("td", _plot([value for value, _ in family.points], costs, whole), class_="plot"),
                [h("td", _value(of), class_="number", data_label=text) for text, of in zip(shown, costs, strict=True)],
            )
            for number, (kind, costs) in enumerate(kinds)
        ],
    )


def _kind(kind: str, costs: list[Measure | None]) -> str:
    per = {of.per for of in costs if of}
    return kind if per != {"invocation"} else kind.replace("per record", "per invocation")


def _value(of: Measure | None) -> Child:
    if of is None or of.per in ("", "call"):
        return with_unit(of)
    return plus_minus(*numbers.measured(of.estimate, half_width(of)))


def _lines(lines: Sequence[GrowthFinding]) -> Iterator[Markup]:
    """One table for each cost: the lines through it, the flattest first."""
    for group in words.by_kind(lines):
        title = f"{words.OF[group[0].slope.name]}, over {words.counted_words(group[0])}"
        names = (words.FURTHER[group[0].factor], "fixed", "R²")
        headings = [
            h("th", "Agent and configuration", class_="name", scope="col"),
            *(h("th", name, class_="number", scope="col") for name in names),
        ]
        rows = [
            row
            for line in group
            for row in (
                _line(_who(line), (with_unit(line.slope), with_unit(line.intercept), words.r_squared(line)), names),
                *(_line(_printed(printed), words.printed_cells(printed), names) for printed in line.published),
            )
        ]
        table = h("table", h("caption", "A line through: ", title), h("thead", h("tr", headings)), h("tbody", rows))
        yield scrolling(f"A line through: {title}", table)


def _line(name: Markup, cells: Sequence[Child], names: Sequence[str]) -> Markup:
    shown = zip(names, cells, strict=True)
    return h("tr", name, [h("td", cell, class_="number", data_label=label) for label, cell in shown])


def _printed(line: PublishedLineValue) -> Markup:
    name = h("span", words.printed_title(line), class_="muted")
    return h("th", name, h("small", line.source), class_="name", scope="row")


def _who(line: GrowthFinding) -> Markup:
    return h("th", who(line.agent_name, title_of(line), note=words.notes(line)), class_="name", scope="row")


def _plot(values: list[float], costs: list[Measure | None], whole: list[bool]) -> Markup:
    """Points joined by lines, in per cent of the cell."""
    logarithmic = values[0] > 0 and values[-1] / values[0] >= WIDE
    places = [math.log(value) if logarithmic else value for value in values]
    heights = [limit for of in costs if of for limit in (of.estimate, *(of.ci95 or ()))]
    low, high = min(0.0, *heights), max(0.0, *heights) or 1.0

    def x(place: float) -> str:
        return f"{6 + 88 * (place - places[0]) / (places[-1] - places[0]):.2f}%"

    def y(height: float) -> str:
        return f"{92 - 84 * (height - low) / (high - low):.2f}%"

    drawn = [(place, of, full) for place, of, full in zip(places, costs, whole, strict=True) if of]
    lines = [
        h("line", x1=x(a), y1=y(before.estimate), x2=x(b), y2=y(after.estimate), class_="join")
        for (a, before, _), (b, after, _) in pairwise(drawn)
    ]
    bars = [
        h("line", x1=x(place), x2=x(place), y1=y(of.ci95[0]), y2=y(of.ci95[1]), class_="whisker")
        for place, of, _ in drawn
        if of.ci95
    ]
    dots = [
        h("circle", cx=x(place), cy=y(of.estimate), r="3", class_="mark" if full else "mark missing")
        for place, of, full in drawn
    ]
    zero = h("line", x1="0", x2="100%", y1=y(0.0), y2=y(0.0), class_="zero")
    return h("svg", zero, lines, bars, dots, class_="strip filled", aria_hidden="true", focusable="false")
