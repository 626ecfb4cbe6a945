"""How cost grows with one parameter, where parts of a run differ in exactly that one."""

import math
from collections.abc import Callable
from itertools import pairwise

from msgspec import Struct

from tracetax.model import FULL, Parameters
from tracetax.report import numbers
from tracetax.report.page.footprint import value as with_unit
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section, who
from tracetax.report.views import PartView, cpu, errors, half_width, measure, overhead, title_of
from tracetax.results.findings import ConfigurationFinding, Measure

FACTORS = {
    "rate": "calls per second",
    "depth": "invocations per call",
    "threads": "calling threads",
    "method_time_ns": "work at the leaf",
    "start_up_monitored": "monitored methods at the start",
}
OTHERS = ("wait", "start_up_methods", "start_up_built")
"""Parameters in which parts may differ, too, but over which nothing is shown to grow."""
WIDE = 20
"""Ratio of the largest to the smallest value from which the axis is logarithmic."""
READING = (
    "Left to right the parameter grows; from zero at the bottom, each plot on its own scale. A flat line does not "
    "depend on it."
)
MORE = (
    "Parts of this run that differ in this parameter only, and in the number of calls. Bars are 95 % intervals; a "
    "hollow point is a part in which records were missing. Lines join what was measured and promise nothing "
    "between."
)
Kind = tuple[str, Callable[[ConfigurationFinding], Measure | None]]
OF_CALLS: tuple[Kind, ...] = (("CPU per record, ns", cpu), ("overhead per invocation, ns", overhead))
ONCE: tuple[Kind, ...] = (
    ("added to start to first call", lambda row: measure(row, "startup_first_call_added")),
    ("added to the build", lambda row: measure(row, "build_time_added")),
    ("added to the build's CPU", lambda row: measure(row, "build_cpu_added")),
)
KINDS = dict.fromkeys(FACTORS, OF_CALLS) | {"start_up_monitored": ONCE}
"""What grows with each factor: the cost of calls, or what is paid once."""


class Family(Struct, frozen=True):
    """Parts that differ in one parameter: its name and its values, ascending, with the part of each."""

    factor: str
    points: tuple[tuple[float, PartView], ...]


def growth(parts: list[PartView]) -> Markup | None:
    """The section with one table per factor; None where no parameter was varied alone."""
    tables = [table for family in families(parts) if (table := _table(family))]
    if not tables:
        return None
    return section(
        "growth", "How it grows", caption(READING, "findings.json", "measures.parquet", BEHIND, more=MORE), tables
    )


def families(parts: list[PartView]) -> list[Family]:
    """Every set of two or more parts whose parameters are alike but for one factor that is a number."""
    found: list[Family] = []
    for factor in FACTORS:
        alike: dict[tuple[object, ...], dict[float, PartView]] = {}
        for view in parts:
            value = getattr(view.part.parameters, factor)
            if value != FULL:
                alike.setdefault(_others(view.part.parameters, factor), {}).setdefault(float(value), view)
        found += [Family(factor, tuple(sorted(views.items()))) for views in alike.values() if len(views) > 1]
    return found


def _others(parameters: Parameters, factor: str) -> tuple[object, ...]:
    return tuple(getattr(parameters, name) for name in (*FACTORS, *OTHERS) if name != factor)


def _table(family: Family) -> Markup | None:
    """One factor's table; None where nothing was measured that grows with it."""
    shown = [_shown(family.factor, value) for value, _ in family.points]
    bodies = [body for rows in _configurations(family) if (body := _rows(family, rows, shown))]
    if not bodies:
        return None
    headings = [
        h("th", "Agent and configuration", class_="name", scope="col"),
        h("th", "Of what", class_="kind", scope="col"),
        h("th", f"over {FACTORS[family.factor]}", class_="plot", scope="col"),
        *(h("th", text, class_="number", scope="col") for text in shown),
    ]
    table = h(
        "table",
        h("caption", f"Over {FACTORS[family.factor]}"),
        h("thead", h("tr", headings)),
        bodies,
        class_="wide strips lines",
    )
    return scrolling(f"Cost over {FACTORS[family.factor]}", table)


def _shown(factor: str, value: float) -> str:
    if factor == "method_time_ns":
        return numbers.duration(value)
    return f"{value:,.10g}{'/s' if factor == 'rate' else ''}"


def _configurations(family: Family) -> list[list[ConfigurationFinding | None]]:
    """By configuration: its row at each value; those with two rows at least."""
    found: dict[tuple[str, ...], list[ConfigurationFinding | None]] = {}
    for place, (_, view) in enumerate(family.points):
        for row in view.rows:
            if not errors(row):
                key = (row.agent, row.configuration, row.build, row.backend)
                found.setdefault(key, [None] * len(family.points))[place] = row
    return [rows for rows in found.values() if sum(row is not None for row in rows) > 1]


def _rows(family: Family, rows: list[ConfigurationFinding | None], shown: list[str]) -> Markup | None:
    model = next(row for row in rows if row)
    kinds = [(name, [of(row) if row else None for row in rows]) for name, of in KINDS[family.factor]]
    kinds = [(name, found) for name, found in kinds if any(found)]
    if not kinds:
        return None
    whole = [row is None or not row.records.blocks_incomplete for row in rows]
    name = h("th", who(model.agent_name, title_of(model)), class_="name", scope="rowgroup", rowspan=len(kinds))
    return h(
        "tbody",
        [
            h(
                "tr",
                name if number == 0 else None,
                h("td", _kind(kind, found), class_="kind"),
                h("td", _plot([value for value, _ in family.points], found, whole), class_="plot"),
                [h("td", _value(of), class_="number", data_label=text) for text, of in zip(shown, found, strict=True)],
            )
            for number, (kind, found) in enumerate(kinds)
        ],
    )


def _kind(kind: str, found: list[Measure | None]) -> str:
    per = {of.per for of in found if of}
    return kind if per != {"invocation"} else kind.replace("per record", "per invocation")


def _value(of: Measure | None) -> Child:
    if of is None or not of.per:
        return with_unit(of)
    return plus_minus(*numbers.measured(of.estimate, half_width(of)))


def _plot(values: list[float], found: list[Measure | None], whole: list[bool]) -> Markup:
    """Points joined by lines, in per cent of the cell."""
    logarithmic = values[0] > 0 and values[-1] / values[0] >= WIDE
    places = [math.log(value) if logarithmic else value for value in values]
    heights = [limit for of in found if of for limit in (of.estimate, *(of.ci95 or ()))]
    low, high = min(0.0, *heights), max(0.0, *heights) or 1.0

    def x(place: float) -> str:
        return f"{6 + 88 * (place - places[0]) / (places[-1] - places[0]):.2f}%"

    def y(height: float) -> str:
        return f"{92 - 84 * (height - low) / (high - low):.2f}%"

    drawn = [(place, of, full) for place, of, full in zip(places, found, whole, strict=True) if of]
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
