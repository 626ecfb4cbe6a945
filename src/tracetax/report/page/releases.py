"""What an agent's releases cost, over the days on which they came: where its file has several of them."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from msgspec import Struct

from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section
from tracetax.report.views import MeasureOf, PartView, cpu, errors, half_width, overhead, unit_of, workload_words
from tracetax.results.findings import ConfigurationFinding, Measure

STYLES = 6
"""Lines that are told apart by colour and dashes; further ones begin anew."""
FEWEST = 2
"""Releases that make a line."""
YEAR_DAYS = 365.25
COSTS: tuple[tuple[str, MeasureOf], ...] = (("overhead", overhead), ("CPU of all threads", cpu))
READING = "Left to right the days of the releases; from zero at the bottom. Bars are 95 % intervals."
MORE = (
    "One point is one release, set up as its agent's file says; all were measured here, in the same blocks. Lines join "
    "what can be compared and promise nothing between. A hollow point is a release of which records were missing. CPU "
    "is per record, and per {unit} where no records are promised."
)


class ReleaseLine(Struct, frozen=True):
    """Rows of one agent's releases that can be compared, the oldest first."""

    agent: str
    title: str
    rows: tuple[ConfigurationFinding, ...]


def release_lines(view: PartView) -> list[ReleaseLine]:
    """The lines of a part, the most expensive newest release first; those of a single release are none."""
    found: dict[tuple[str, str], list[ConfigurationFinding]] = {}
    for row in view.rows:
        if row.release and not errors(row):
            found.setdefault((row.agent, row.release.line), []).append(row)
    lines = [
        ReleaseLine(rows[0].agent_name, title, tuple(sorted(rows, key=released)))
        for (_, title), rows in found.items()
        if len(rows) >= FEWEST
    ]
    return sorted(lines, key=_newest, reverse=True)


def _newest(line: ReleaseLine) -> float:
    cost = overhead(line.rows[-1])
    return cost.estimate if cost else 0.0


def released(row: ConfigurationFinding) -> date:
    """The day of a row's release."""
    assert row.release
    return date.fromisoformat(row.release.released)


def releases(parts: Sequence[PartView]) -> Markup | None:
    """The section with a plot and a table for each cost of each part; None where no agent has several releases."""
    by_part = [(view, lines) for view in parts if (lines := release_lines(view))]
    if not by_part:
        return None
    blocks = [block for view, lines in by_part for block in _part(view, lines)]
    more = MORE.format(unit=unit_of(by_part[0][0].part))
    return section(
        "releases",
        "Over its releases",
        caption(READING, "findings.json", "measures.parquet", BEHIND, more=more),
        blocks,
        folded=True,
    )


def _part(view: PartView, lines: Sequence[ReleaseLine]) -> list[Markup]:
    words = h("span", workload_words(view.part.parameters), class_="muted")
    shown: list[Markup] = [h("h4", view.part.title), h("p", words)]
    for name, of in COSTS:
        known = [line for line in lines if sum(of(row) is not None for row in line.rows) >= FEWEST]
        if known:
            shown += _cost(f"{name}, ns", of, known)
    return shown


def _cost(name: str, of: MeasureOf, lines: Sequence[ReleaseLine]) -> list[Markup]:
    titles = titles_of(lines)
    key = [h("span", _sample(place), title) for place, title in enumerate(titles)]
    return [
        h("h5", name),
        h("p", key, class_="key caption"),
        scrolling(f"{name}, over the days of the releases", drawing(name, of, lines)),
        scrolling(f"{name}, by release", _table(name, of, lines, titles)),
    ]


def titles_of(lines: Sequence[ReleaseLine]) -> list[str]:
    """What the key calls lines: with their agents where there are several."""
    alone = len({line.agent for line in lines}) == 1
    return [line.title if alone else f"{line.agent}, {line.title}" for line in lines]


def drawing(name: str, of: MeasureOf, lines: Sequence[ReleaseLine]) -> Markup:
    """The plot of one cost of lines: years from left to right, the cost from zero at the bottom."""
    days = [_year(released(row)) for line in lines for row in line.rows]
    costs = [cost for line in lines for row in line.rows if (cost := of(row))]
    room = (max(days) - min(days)) * axes.PADDING or 1.0
    first, last = min(days) - room, max(days) + room
    across = Axis(first, last, tuple(float(year) for year in range(int(first) + 1, int(last) + 1)))
    up = axes.linear([limit for cost in costs for limit in (cost.estimate, *(cost.ci95 or ()))])
    return h(
        "svg",
        _frame(across, up),
        [_line(line, of, across, up, place % STYLES) for place, line in enumerate(lines)],
        class_="curves lines filled",
        role="img",
        aria_label=f"{name}, over the days of the releases. The table below has the numbers.",
    )


def _table(name: str, of: MeasureOf, lines: Sequence[ReleaseLine], titles: Sequence[str]) -> Markup:
    by_release: dict[tuple[date, str], list[ConfigurationFinding | None]] = {}
    for place, line in enumerate(lines):
        for row in line.rows:
            by_release.setdefault((released(row), row.version), [None] * len(lines))[place] = row
    headings = [
        h("th", "Release", class_="name", scope="col"),
        *(h("th", title, class_="number", scope="col") for title in titles),
    ]
    rows = [
        h(
            "tr",
            h("th", version, " ", h("span", f"{day:%B %Y}", class_="muted"), class_="name", scope="row"),
            [
                h("td", _value(of(row) if row else None), class_="number", data_label=title)
                for title, row in zip(titles, by_release[day, version], strict=True)
            ],
        )
        for day, version in sorted(by_release)
    ]
    return h("table", h("caption", f"{name}, by release"), h("thead", h("tr", headings)), h("tbody", rows))


def _value(of: Measure | None) -> Child:
    return plus_minus(*numbers.measured(of.estimate, half_width(of))) if of else "–"


def _year(day: date) -> float:
    return day.year + (day.timetuple().tm_yday - 1) / YEAR_DAYS


def _up(axis: Axis, value: float) -> str:
    return f"{(1 - axis.share(value)) * 100:.2f}%"


def _frame(across: Axis, up: Axis) -> list[Markup]:
    """Lines and words at the beginnings of years, and at round costs."""
    drawn: list[Markup] = []
    for year in across.ticks:
        x = across.at(year)
        drawn.append(h("line", x1=x, x2=x, y1="0", y2="100%", class_="grid"))
        drawn.append(h("text", f"{year:.0f}", x=x, y="100%", dy="1.1em", text_anchor="middle"))
    for tick in up.ticks:
        y = _up(up, tick)
        drawn.append(h("line", x1="0", x2="100%", y1=y, y2=y, class_="zero" if tick == 0 else "grid"))
        drawn.append(h("text", f"{tick:,.6g}", x="0", y=y, dx="-.4em", dy=".3em", text_anchor="end"))
    return drawn


def _line(line: ReleaseLine, of: MeasureOf, across: Axis, up: Axis, style: int) -> list[Markup]:
    points = [(across.at(_year(released(row))), cost, row) for row in line.rows if (cost := of(row))]
    joins = [
        h("line", x1=a, y1=_up(up, before.estimate), x2=b, y2=_up(up, after.estimate), class_=f"curve c{style}")
        for (a, before, _), (b, after, _) in pairwise(points)
    ]
    bars = [
        h("line", x1=x, x2=x, y1=_up(up, cost.ci95[0]), y2=_up(up, cost.ci95[1]), class_="whisker")
        for x, cost, _ in points
        if cost.ci95
    ]
    dots = [
        h(
            "circle",
            h("title", f"{row.version}, {line.title}"),
            cx=x,
            cy=_up(up, cost.estimate),
            r="3.5",
            class_="mark missing" if row.records.blocks_incomplete else "mark",
        )
        for x, cost, row in points
    ]
    return [*joins, *bars, *dots]


def _sample(place: int) -> Markup:
    line = h("line", x1="0", x2="100%", y1="50%", y2="50%", class_=f"curve c{place % STYLES}")
    return h("svg", line, class_="swatch", aria_hidden="true", focusable="false")
