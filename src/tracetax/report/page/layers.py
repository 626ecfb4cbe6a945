"""Why: what each layer of an agent adds, from its configurations whose layers contain one another."""

from itertools import pairwise
from math import hypot

from msgspec import Struct

from tracetax.report import numbers
from tracetax.report.page import axis as axes
from tracetax.report.page.axis import Axis
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, scrolling, section, who
from tracetax.report.views import (
    PartView,
    caveat,
    errors,
    half_width,
    overhead,
    per_unit,
    rows_id,
    title_of,
    unit_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding, Measure

LAYERS = {"I": "instrumentation", "C": "collecting", "W": "writing"}
BAR = 12
READING = (
    "Each bar begins where the one above it ends; its length is what a configuration adds to the one with fewer layers."
)
MORE = (
    "Overhead per {unit} of configurations of one agent whose layers contain one another. A dashed bar takes "
    "something away. Steps are differences of two overheads; their margins are those of independent values, wider "
    "than by block. A layer of one agent need not do what the same layer of another does: compare steps within an "
    "agent."
)


class LayerStep(Struct, frozen=True):
    """A configuration, and what it adds to the one before it in its chain."""

    row: ConfigurationFinding
    added: tuple[str, ...]
    """The layers that it has and the one before has not."""
    before: ConfigurationFinding | None


def layers(parts: list[PartView]) -> Markup | None:
    """The section with one table per part; None where no agent was measured with nested layers."""
    tables = [_part(view, steps) for view in parts if (steps := chains(view))]
    if not tables:
        return None
    more = MORE.replace("{unit}", unit_of(parts[0].part))
    return section(
        "layers",
        "Why: what each layer adds",
        caption(READING, "findings.json", BEHIND, more=more),
        tables,
        folded=True,
    )


def chains(view: PartView) -> list[list[LayerStep]]:
    """For each configuration with the most layers of its agent, the steps that lead to it.

    A step that several configurations could stand for is left out: which of them the next builds on is not known.
    """
    result: list[list[LayerStep]] = []
    rows = [row for row in view.rows if overhead(row) and not errors(row)]
    for row in rows:
        mine = _kind(row)
        others = [other for other in rows if _family(other) == _family(row)]
        if any(mine < _kind(other) for other in others):
            continue
        inner = [other for other in others if _kind(other) < mine]
        kinds = [_kind(other) for other in inner]
        clear = sorted((other for other in inner if kinds.count(_kind(other)) == 1), key=lambda row: len(_kind(row)))
        nested = [*clear, row]
        if clear and all(_kind(a) < _kind(b) for a, b in pairwise(nested)):
            result.append([_step(after, before) for before, after in zip([None, *clear], nested, strict=True)])
    return result


def _family(row: ConfigurationFinding) -> tuple[str, ...]:
    """What two configurations must have in common for their layers to be compared."""
    return row.agent, row.technology, row.build, row.backend


def _kind(row: ConfigurationFinding) -> frozenset[str]:
    return frozenset(row.layers) & LAYERS.keys()


def _step(row: ConfigurationFinding, before: ConfigurationFinding | None) -> LayerStep:
    new = _kind(row) - (_kind(before) if before else frozenset[str]())
    return LayerStep(row, tuple(name for name in LAYERS if name in new), before)


def _part(view: PartView, steps: list[list[LayerStep]]) -> Markup:
    axis = axes.linear([limit for chain in steps for step in chain for limit in _extent(step)])
    names = (
        "Layer",
        "Measured as",
        f"overhead per {unit_of(view.part)}, ns",
        "adds, ns",
        "CPU added, ns",
        "up to here, ns",
    )
    classes = ("name", "name", "plot", "number", "number", "number")
    headings = [h("th", name, class_=class_, scope="col") for name, class_ in zip(names, classes, strict=True)]
    foot = h("tr", h("td"), h("td"), h("td", axes.tick_labels(axis), class_="plot"), [h("td") for _ in range(3)])
    table = h(
        "table",
        h("caption", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted")),
        h("thead", h("tr", headings)),
        [_chain(chain, axis) for chain in steps],
        h("tfoot", foot, aria_hidden="true"),
        class_="wide strips layers",
    )
    return scrolling(f"{view.part.title}: what each layer adds", table)


def _extent(step: LayerStep) -> list[float]:
    of = overhead(step.row)
    return [of.estimate, *(of.ci95 or ())] if of else []


def _chain(chain: list[LayerStep], axis: Axis) -> Markup:
    last = chain[-1].row
    title = h("th", who(last.agent_name, title_of(last), note=caveat(last)), colspan=6, scope="rowgroup")
    return h("tbody", h("tr", title, class_="group"), [_row(step, axis) for step in chain])


def _row(step: LayerStep, axis: Axis) -> Markup:
    here, before = overhead(step.row), overhead(step.before) if step.before else None
    charged = per_unit(step.row, "cpu")
    charged_before = per_unit(step.before, "cpu") if step.before else None
    names = " and ".join(f"{LAYERS[layer]} ({layer})" for layer in step.added)
    measured: Child = who("", title_of(step.row), rows_id(step.row))[1:]
    return h(
        "tr",
        h("th", names, class_="name", scope="row"),
        h("td", measured, class_="name"),
        h("td", _bar(here, before, axis) if here else None, class_="plot"),
        h("td", _added(here, before), class_="number", data_label="adds"),
        h("td", _added(charged, charged_before), class_="number", data_label="CPU added"),
        h("td", _added(here, None), class_="number", data_label="up to here"),
    )


def _added(of: Measure | None, before: Measure | None) -> Child:
    if of is None:
        return "–"
    margins = half_width(of), half_width(before) if before else 0.0
    margin = None if None in margins else hypot(*(width or 0.0 for width in margins))
    return plus_minus(*numbers.measured(of.estimate - (before.estimate if before else 0.0), margin))


def _bar(of: Measure, before: Measure | None, axis: Axis) -> Markup:
    start, end = before.estimate if before else 0.0, of.estimate
    low, high = sorted((start, end))
    width = max(0.2, (axis.share(high) - axis.share(low)) * 100)
    kind = "step" if end >= start else "step less"
    step = h("rect", x=axis.at(low), y="50%", width=f"{width:.2f}%", height=str(BAR), class_=kind)
    link = h("line", x1=axis.at(start), x2=axis.at(start), y1="0", y2="50%", class_="join")
    low, high = of.ci95 or (end, end)
    spread = h("line", x1=axis.at(low), x2=axis.at(high), y1="50%", y2="50%", class_="whisker")
    return h("svg", axes.grid(axis), link, step, spread, class_="strip bar", aria_hidden="true", focusable="false")
