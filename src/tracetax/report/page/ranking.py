"""The core of the page: each part as a forest plot whose rows carry their numbers."""

from collections.abc import Sequence

from msgspec import Struct

from tracetax.model import Delivery
from tracetax.report import numbers
from tracetax.report.kinds import call_noun, calls_itself, charged_words, overhead_words, time_unit
from tracetax.report.page.axis import NARROW, ROOM
from tracetax.report.page.forest import MARKS, Panel, in_unit, panel
from tracetax.report.page.html import BEHIND, Child, Markup, caption, h, plus_minus, section, who
from tracetax.report.page.percentiles import duration_of
from tracetax.report.page.verdicts import beside
from tracetax.report.views import (
    LABEL_MEANINGS,
    STOPPED,
    Group,
    PartView,
    cpu,
    errors,
    group_heading,
    half_width,
    heap_words,
    labels,
    loss,
    measure,
    overhead,
    p99_of_call,
    remarks,
    rows_id,
    time_of_call,
    title_of,
    unit_of,
    workload_words,
)
from tracetax.results.findings import ConfigurationFinding
from tracetax.words import one

BEFORE = (("Rank", "rank"), ("Agent and configuration", "name"))
AFTER = (("Ratio of {call}s", "number ratio"), ("p99 of {a_call}", "number tail-time"), ("Records", "number arrived"))
TAIL = AFTER[1]
READING = (
    "Further left is cheaper; the bar is the 95 % interval, the shade what this machine calls no difference. Filled: "
    "delivers everything; hollow: records are missing; diamond: none promised; arrow: off the scale."
)
MORE = (
    "Means over blocks, each configuration against the two baselines of its block. Shaded is the A/A band, within "
    "which baseline differs from baseline in 95 % of runs. The overhead is {overhead}. The "
    "ratio is the geometric mean over blocks"
)
OF_LITTLE = "; it is to a call that does little, and a service's calls do more."
WITH_CPU = (
    " CPU is that of all threads of the process until the last record had arrived, compiling and garbage collection "
    "included, per {charged}. Of an agent that drops, the CPU that it "
    "spent on dropped records is in it."
)
WITHOUT_CPU = " CPU of the agent's own threads is in it only where it keeps the caller from running."
RANKED_BY = "ranked by this"
RANKED = {
    "cpu": " Ranked by CPU per {ranked}",
    "overhead": " Ranked by overhead per {unit}",
}


class _Style(Struct, frozen=True):
    """What the rows of a part have in common: the plots, and what is told of the whole run."""

    panels: list[Panel]
    after: list[tuple[str, str]]
    """The columns after the plots: without p99 where no trial had enough calls for it."""
    told: tuple[str, ...]

    @property
    def has_tail(self) -> bool:
        """Whether p99 has a column."""
        return any(class_ == TAIL[1] for _, class_ in self.after)


def ranking(parts: list[PartView], by: str, told: Sequence[str] = ()) -> Markup:
    """The section with one forest plot per part, what the rank follows first.

    Warnings and notes stand beside their rows, but those whose codes are ``told`` of the whole run.
    """
    with_cpu = any(cpu(row) for view in parts for row in view.rows)
    part = parts[0].part
    unit, charged = unit_of(part), charged_words(part)
    if charged == "record":
        charged = f"delivered record; where none is promised, per {unit}"
    more = MORE + (OF_LITTLE if calls_itself(part) else ".") + (WITH_CPU if with_cpu else WITHOUT_CPU) + RANKED[by]
    words = {"unit": unit, "charged": charged, "ranked": charged.partition(";")[0], "overhead": overhead_words(part)}
    more = f"{more.format_map(words)}; those that cannot be told apart share a rank."
    return section(
        "ranking",
        "What each configuration costs",
        caption(READING, "findings.json", "measures.parquet", BEHIND, more=more),
        [_part(view, _Style(_panels(view, with_cpu, by), _after(view), tuple(told))) for view in parts],
        _meanings(parts),
    )


def _panels(view: PartView, with_cpu: bool, by: str) -> list[Panel]:
    """The panels of a part, what the rank follows first."""

    def band(row: ConfigurationFinding) -> float | None:
        return view.half_width(view.band_of(row.heap_bytes))

    def no_band(_row: ConfigurationFinding) -> None:
        return None

    places = ("second", "first") if with_cpu and by == "cpu" else ("first", "second")
    letters = NARROW if with_cpu else ROOM
    ranked = any(row.rank is not None for row in view.rows)
    marks = {place: f" · {RANKED_BY}" if ranked and place == "first" else "" for place in places}
    unit = time_unit(view.part)
    name = f"Overhead per {unit_of(view.part)}, {unit.name}{marks[places[0]]}"
    panels = [panel(view, name, "overhead", overhead, band, places[0], letters=letters)]
    if with_cpu:
        name = f"CPU of all threads per {charged_words(view.part)}, {unit.name}{marks[places[1]]}"
        panels.append(panel(view, name, "CPU", cpu, no_band, places[1], letters=letters))
    return sorted(panels, key=lambda panel: panel.place)


def _after(view: PartView) -> list[tuple[str, str]]:
    tail, call = any(p99_of_call(row) for row in view.rows), call_noun(view.part)
    named = [(name.format(call=call, a_call=one(call)), class_) for name, class_ in AFTER]
    return [column for column in named if tail or column[1] != TAIL[1]]


def _part(view: PartView, style: _Style) -> Markup:
    panels = style.panels
    columns = [*BEFORE, *(heading for panel in panels for heading in panel.headings()), *style.after]
    groups = {group: _group(view, group, style, len(columns)) for group in view.groups if group is not Group.FAILED}
    failed = _group(view, Group.FAILED, style, len(columns)) if Group.FAILED in view.groups else None
    return h(
        "section",
        h("h4", view.part.title, " ", h("span", workload_words(view.part.parameters), class_="muted"), id=_id(view)),
        h("p", _background(view), class_="muted"),
        [beside(remarks(row, style.told)) for row in view.baselines],
        h(
            "table",
            h("caption", f"{view.part.title}: what each configuration costs", class_="visually-hidden"),
            h("thead", h("tr", [_heading(name, class_) for name, class_ in columns], role="row"), role="rowgroup"),
            list(groups.values()),
            h("tbody", _axis_row(style), role="rowgroup") if groups else None,
            failed,
            class_="forest two" if len(panels) > 1 else "forest",
            role="table",
        ),
        aria_labelledby=_id(view),
    )


def _id(view: PartView) -> str:
    return "part-" + "".join(letter if letter.isalnum() else "-" for letter in view.part.name)


def _background(view: PartView) -> list[Child]:
    times: list[Child] = []
    unit = time_unit(view.part)
    for baseline in view.baselines:
        time = time_of_call(baseline)
        if time is not None:
            time = in_unit(unit, time)
            heap = f" ({heap_words(baseline.heap_bytes)})" if len(view.baselines) > 1 else ""
            times += [
                ", " if times else "",
                plus_minus(*numbers.measured(time.estimate, half_width(time)), unit.name),
                heap,
                [[" ", h("span", note, class_="label")] for note in labels(baseline, view.part)],
            ]
    blocks = f"{view.part.blocks} {'block' if view.part.blocks == 1 else 'blocks'}, {STOPPED[view.part.stopped]}"
    band = view.half_width(view.band)
    per = f"{unit.name} per {unit_of(view.part)}{numbers.SEPARATOR}"
    spread = f"A/A band ±{numbers.measured(unit.of(band), unit.of(band))[1]} {per}" if band is not None else ""
    indicative: Child = [numbers.SEPARATOR, h("strong", "indicative")] if view.part.indicative else None
    return [
        [f"Without an agent {one(call_noun(view.part))} takes ", times, numbers.SEPARATOR] if times else None,
        spread,
        blocks,
        indicative,
    ]


def _heading(name: str, class_: str) -> Markup:
    label: Child = name if class_ != "rank" else h("span", name, class_="visually-hidden")
    return h("th", label, class_=class_, scope="col", role="columnheader")


def _axis_row(style: _Style) -> Markup:
    cells = [h("td", role="cell") for _ in BEFORE] + [cell for panel in style.panels for cell in panel.scale()]
    cells += [h("td", role="cell") for _ in style.after]
    return h("tr", cells, role="row", class_="axis-row", aria_hidden="true")


def _group(view: PartView, group: Group, style: _Style, width: int) -> Markup:
    rows = view.groups[group]
    head = h("th", group_heading(group, rows), colspan=width, scope="rowgroup", role="rowheader")
    body = [_failed(row, width, style) if group is Group.FAILED else _row(view, group, row, style) for row in rows]
    return h("tbody", h("tr", head, class_="group", role="row"), body, role="rowgroup")


def _name(row: ConfigurationFinding, notes: Child = None) -> Markup:
    name = who(row.agent_name, title_of(row), rows_id(row))
    return h("th", name, notes, class_="name", scope="row", role="rowheader")


def _made(view: PartView, row: ConfigurationFinding) -> Markup:
    """What was measured exactly: version, profile, and a heap that is not that of the others."""
    band = view.band
    heap = heap_words(row.heap_bytes) if band and band.heap_bytes != row.heap_bytes else ""
    version = "" if row.build else row.version
    return h("small", numbers.SEPARATOR.join(text for text in (version, row.profile, heap) if text), class_="made")


def _row(view: PartView, group: Group, row: ConfigurationFinding, style: _Style) -> Markup:
    notes: list[Child] = [h("span", note, class_="label") for note in labels(row, view.part)]
    if group in (Group.LOST, Group.PARTIAL, Group.COUNTS):
        notes.append(h("span", loss(row), class_="note"))
    ratio, p99 = measure(row, "overhead_ratio"), p99_of_call(row)
    rank = str(row.rank) if group is Group.DELIVERS and row.rank is not None else ""
    return h(
        "tr",
        h("td", rank, class_="rank", role="cell"),
        _name(row, [" ", notes, _made(view, row), beside(remarks(row, style.told))]),
        [panel.cells(row, group) for panel in style.panels],
        _number("ratio", f"× {numbers.alone(ratio.estimate, half_width(ratio))}" if ratio else "–", "ratio"),
        _number("tail-time", duration_of(p99) or "–", "p99") if style.has_tail else None,
        _number("arrived", _records(row), "records"),
        class_=MARKS[group],
        role="row",
    )


def _number(class_: str, content: Child, label: str | None = None) -> Markup:
    return h("td", content, class_=f"number {class_}", role="cell", data_label=label)


def _records(row: ConfigurationFinding) -> Child:
    if row.delivery == Delivery.NONE or row.records.completeness is None:
        return [
            h("span", "–", class_="muted", aria_hidden="true"),
            h("span", "none promised", class_="visually-hidden"),
        ]
    return numbers.percent(row.records.completeness)


def _failed(row: ConfigurationFinding, width: int, style: _Style) -> Markup:
    sentences = [verdict.text for verdict in errors(row)] or ["No block of it was completed."]
    texts = [h("p", h("span", "✗ ", aria_hidden="true"), text) for text in sentences]
    cell = h("td", texts, beside(remarks(row, style.told)), colspan=width - len(BEFORE), class_="failure", role="cell")
    return h("tr", h("td", class_="rank", role="cell"), _name(row), cell, class_="failed", role="row")


def _notes(view: PartView, row: ConfigurationFinding) -> list[str]:
    return [] if errors(row) else labels(row, view.part)


def _meanings(parts: list[PartView]) -> Markup | None:
    notes = (note for view in parts for row in (*view.baselines, *view.rows) for note in _notes(view, row))
    used = dict.fromkeys(note for note in notes if note in LABEL_MEANINGS)
    items = [h("li", h("span", note, class_="label"), LABEL_MEANINGS[note]) for note in used]
    return h("ul", items, class_="meanings caption") if items else None
