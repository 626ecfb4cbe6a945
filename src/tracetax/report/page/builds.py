"""Two builds of an agent against each other: ratios of time and of CPU, with the band that counts as the same."""

import math
from collections.abc import Iterator

from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import BEHIND, Markup, caption, h, plus_minus, section
from tracetax.report.views import PartView, half_width, measure, per_unit
from tracetax.results.findings import BuildComparison, ConfigurationFinding, Measure

BAR = 12
CLASSES = {"slower": "hollow", "faster": "filled", "same": "filled", "undecided": "diamond"}
READING = (
    "Zero: both take as long. Bars are 95 % intervals over blocks; what lies inside the shaded band counts as the same."
)
MORE = (
    "The ratio is that of the newer build to the older one inside each block, in per cent more or less. A verdict is "
    "given on time alone: slower or faster where the whole bar lies beside zero; the same where its 90 % interval lies "
    "inside the band, which is twice the half-width that the experiment asks for. CPU is that of all threads until the "
    "last record has arrived."
)


def builds(parts: list[PartView], comparisons: tuple[BuildComparison, ...]) -> Markup | None:
    """The section with one table; None where no builds were compared."""
    if not comparisons:
        return None
    axis = axes.linear([limit for comparison in comparisons for limit in _extent(comparison)])
    older, newer = comparisons[0].builds
    headings = [
        h("th", "Configuration", class_="name", scope="col"),
        h("th", "", class_="kind", scope="col"),
        h("th", f"{newer} against {older}, % more", class_="plot", scope="col"),
        h("th", "± 95 %, %", class_="number value", scope="col"),
        h("th", older, class_="number", scope="col"),
        h("th", newer, class_="number", scope="col"),
        h("th", "Verdict", scope="col"),
    ]
    foot = h("tr", h("td"), h("td"), h("td", axes.tick_labels(axis), class_="plot"), [h("td") for _ in range(4)])
    table = h(
        "table",
        h("thead", h("tr", headings)),
        h("tbody", [row for comparison in comparisons for row in _rows(comparison, parts, axis)]),
        h("tfoot", foot, aria_hidden="true"),
        class_="wide forest builds",
    )
    return section("builds", f"{newer} against {older}", caption(READING, "findings.json", BEHIND, more=MORE), table)


def _extent(comparison: BuildComparison) -> list[float]:
    ratios = [of for of in (comparison.ratio, comparison.cpu) if of]
    limits = [_percent(limit) for of in ratios for limit in (of.ci95 or (of.estimate,))]
    band = _band(comparison.margin)
    return [*limits, *(band or ())]


def _percent(ratio: float) -> float:
    return (ratio - 1) * 100


def _band(margin: float | None) -> tuple[float, float] | None:
    return None if margin is None else (_percent(math.exp(-margin)), _percent(math.exp(margin)))


def _rows(comparison: BuildComparison, parts: list[PartView], axis: Axis) -> Iterator[Markup]:
    """The row of time, and below it that of CPU."""
    every = [row for view in parts for row in view.rows]
    rows = [next((row for row in every if _is(row, comparison, build)), None) for build in comparison.builds]
    where = next((view.part.title for view in parts if view.part.name == comparison.part), comparison.part)
    name = h("span", rows[0].title if rows[0] else comparison.configuration, class_="title")
    yield h(
        "tr",
        h(
            "th",
            name,
            h("br"),
            h("small", where, class_="muted") if len(parts) > 1 else None,
            class_="name",
            scope="row",
        ),
        h("td", "time", class_="kind"),
        _cells(comparison.ratio, axis, comparison.margin, CLASSES[comparison.verdict]),
        [h("td", _shown(row and measure(row, "service_time")), class_="number", data_label="a call") for row in rows],
        h("td", comparison.verdict, data_label="verdict"),
    )
    if comparison.cpu:
        yield h(
            "tr",
            h("td"),
            h("td", "CPU", class_="kind"),
            _cells(comparison.cpu, axis, None, "diamond"),
            [h("td", _shown(row and per_unit(row, "cpu")), class_="number", data_label="CPU added") for row in rows],
            h("td"),
        )


def _is(row: ConfigurationFinding, comparison: BuildComparison, build: str) -> bool:
    names = (comparison.part, comparison.agent, comparison.configuration, build)
    return (row.part, row.agent, row.configuration, row.build) == names


def _shown(of: Measure | None) -> str:
    """A time with its unit and what it is per."""
    if of is None:
        return "–"
    value, _, unit = numbers.measured_duration(of.estimate, half_width(of))
    return f"{value} {unit} per {of.per}"


def _cells(of: Measure, axis: Axis, margin: float | None, kind: str) -> list[Markup]:
    """The interval beside the band, and the number."""
    low, high = (_percent(limit) for limit in (of.ci95 or (of.estimate, of.estimate)))
    band = _band(margin)
    value, width = numbers.fine(_percent(of.estimate), (high - low) / 2 if of.ci95 else None)
    plot = h(
        "svg",
        h("rect", **_span(axis, *band), y="0", height="100%", class_="band") if band else None,
        axes.grid(axis),
        h("rect", **_span(axis, low, high), y="50%", height=str(BAR), class_="interval"),
        h("circle", cx=axis.at(_percent(of.estimate)), cy="50%", r="3", class_="mark"),
        class_=f"strip {kind}",
        aria_hidden="true",
        focusable="false",
    )
    return [h("td", plot, class_="plot"), h("td", plus_minus(value, width), class_="number value")]


def _span(axis: Axis, low: float, high: float) -> dict[str, str]:
    return {"x": axis.at(low), "width": f"{(axis.share(high) - axis.share(low)) * 100:.2f}%"}
