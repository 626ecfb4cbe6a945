"""One panel of a forest plot: a column of the table in which each row's interval is drawn on a shared axis."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tracetax.report import numbers
from tracetax.report.kinds import TimeUnit, call_noun, time_unit
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import Child, Markup, h, plus_minus
from tracetax.report.views import Group, MeasureOf, PartView, apart, cpu, errors, group_of_row, half_width, unit_of
from tracetax.results.findings import ConfigurationFinding, Measure

BAR = 8
FAR = 2.5
"""Rows that do not deliver everything are off the scale beyond this multiple of those that do."""
MARKS = {
    Group.DELIVERS: "filled",
    Group.DROPS: "hollow",
    Group.PARTIAL: "hollow",
    Group.COUNTS: "diamond",
    Group.UNCOUNTED: "hollow",
    Group.EMPTY: "hollow",
    Group.LOST: "hollow",
    Group.SILENT: "diamond",
}
BandOf = Callable[[ConfigurationFinding], float | None]


class Panel(Struct, frozen=True):
    """What is drawn, on which axis, and which of the table's panels it is."""

    heading: str
    short: str
    """How the number is called where the columns' names are out of sight."""
    of: MeasureOf
    band: BandOf
    axis: Axis
    place: str
    """CSS class of its cells: ``first`` or ``second``."""
    unit: TimeUnit
    """Of its axis and numbers."""

    def cells(self, row: ConfigurationFinding, group: Group) -> list[Markup]:
        """The plot and the number of one row."""
        shown = _of(self.of, self.unit, row)
        spent = _of(apart, self.unit, row) if self.of is cpu else None
        also = h("small", numbers.alone(spent.estimate, half_width(spent)), f" per {unit_of(row)}") if spent else None
        per = call_noun(row) if shown and shown.per == "call" else shown and shown.per
        label = f"{self.short} per {per}, {self.unit.name}" if shown else self.short
        return [
            h("td", self._plot(row, group, shown), class_=f"plot {self.place}", role="cell"),
            h("td", _number(shown), also, class_=f"number value {self.place}", role="cell", data_label=label),
        ]

    def headings(self) -> list[tuple[str, str]]:
        """Name and class of the two columns."""
        return [(self.heading, f"plot {self.place}"), (f"± 95 %, {self.unit.name}", f"number value {self.place}")]

    def scale(self) -> list[Markup]:
        """The cells of the row with the axis."""
        plot = h("td", axes.tick_labels(self.axis), class_=f"plot {self.place}", role="cell", data_label=self.short)
        return [plot, h("td", role="cell")]

    def _plot(self, row: ConfigurationFinding, group: Group, shown: Measure | None) -> Markup:
        band = self.band(row)
        shade = _band(self.axis, self.unit.of(band)) if band else None
        return h(
            "svg",
            shade,
            axes.grid(self.axis),
            _drawn(self.axis, shown, MARKS[group]) if shown else None,
            class_="strip",
            aria_hidden="true",
            focusable="false",
        )


def panel(
    view: PartView, heading: str, short: str, of: MeasureOf, band: BandOf, place: str, *, letters: int = axes.ROOM
) -> Panel:
    """A panel whose axis holds all rows of a part, but those that lie far beyond what delivers everything."""
    core: list[float] = []
    others: list[float] = []
    unit = time_unit(view.part)
    for row in view.rows:
        shown = _of(of, unit, row)
        if shown is None or errors(row):
            continue
        values = [shown.estimate, *(shown.ci95 or ())]
        width = band(row)
        core += [-unit.of(width), unit.of(width)] if width is not None else []
        (core if group_of_row(row) in (Group.DELIVERS, Group.SILENT) else others).extend(values)
    if Group.DELIVERS in view.groups:
        furthest = FAR * max(map(abs, core), default=0.0)
        others = [value for value in others if abs(value) <= furthest]
    return Panel(heading, short, of, band, axes.linear([*core, *others], letters), place, unit)


def in_unit(unit: TimeUnit, measure: Measure) -> Measure:
    """A time in another unit than ns."""
    limits = measure.ci95
    within = (unit.of(limits[0]), unit.of(limits[1])) if limits else None
    return replace(measure, estimate=unit.of(measure.estimate), ci95=within)


def _of(of: MeasureOf, unit: TimeUnit, row: ConfigurationFinding) -> Measure | None:
    shown = of(row)
    return in_unit(unit, shown) if shown else None


def _number(shown: Measure | None) -> Child:
    return plus_minus(*numbers.measured(shown.estimate, half_width(shown))) if shown else "–"


def _drawn(axis: Axis, shown: Measure, kind: str) -> list[Markup]:
    if shown.estimate > axis.high:
        return [h("svg", h("path", d="M-9-5 0 0-9 5Z", class_="mark"), x="100%", y="50%", overflow="visible")]
    low, high = shown.ci95 or (shown.estimate, shown.estimate)
    interval = h("rect", **_span(axis, low, high), y="50%", height=str(BAR), class_="interval")
    return [interval, _mark(axis.at(shown.estimate), kind)]


def _band(axis: Axis, band: float) -> list[Markup]:
    """The A/A band: a shade between two lines that can be seen without it."""
    shade = h("rect", **_span(axis, -band, band), y="0", height="100%", class_="band")
    ends = (axis.at(-band), axis.at(band))
    return [shade, *(h("line", x1=x, x2=x, y1="0", y2="100%", class_="edge") for x in ends)]


def _span(axis: Axis, low: float, high: float) -> dict[str, str]:
    return {"x": axis.at(low), "width": f"{(axis.share(high) - axis.share(low)) * 100:.2f}%"}


def _mark(x: str, kind: str) -> Markup:
    """A row's mark; its shape says the group, so that nothing hangs on colour alone."""
    if kind == "diamond":
        return h("svg", h("path", d="M0-3.5 3.5 0 0 3.5-3.5 0Z", class_="mark"), x=x, y="50%", overflow="visible")
    return h("circle", cx=x, cy="50%", r="3", class_="mark")
