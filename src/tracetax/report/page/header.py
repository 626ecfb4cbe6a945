"""The head of the page: the verdict in one sentence, what a choice hangs on, what to be warned of."""

from datetime import datetime

from tracetax.report import headline, numbers
from tracetax.report.decision import BEST, MEANING, ChoiceTable, Quantity, reading
from tracetax.report.page.html import Markup, h, who
from tracetax.report.views import LABELS, NO_RESULT, PartView, title_of, workload_words
from tracetax.report.workloads import WorkloadCost, WorkloadTable, workload_tables
from tracetax.results.findings import Findings

FEW = 2
"""Configurations that still have columns on a phone."""


def header(
    findings: Findings, parts: list[PartView], choice: ChoiceTable | None, better: tuple[str, str] | None
) -> Markup:
    """Everything above the first plot."""
    experiment = findings.experiment
    started = datetime.fromisoformat(experiment.started_at)
    source = [numbers.SEPARATOR, "after ", h("cite", experiment.paper)] if experiment.paper else None
    verdict = headline.verdict(findings, parts) or "No statement follows from this run."
    facts = (experiment.key, experiment.service or experiment.workload, experiment.run, f"{started:%Y-%m-%d %H:%M %Z}")
    return h(
        "header",
        h("p", numbers.SEPARATOR.join(facts), source, class_="muted"),
        h("h1", experiment.title),
        h("p", numbers.unbroken(verdict), class_="answer"),
        _of_service(findings),
        _comparisons(findings),
        [_across(table) for table in workload_tables(parts)],
        _side_by_side(choice) if choice else None,
        _notices(findings, better),
    )


def _of_service(findings: Findings) -> Markup | None:
    """What a run of the user's own service says in sentences."""
    if not findings.experiment.service:
        return None
    items = [h("li", numbers.unbroken(statement.text)) for statement in findings.statements]
    return h("ul", items, class_="statements")


def _across(table: WorkloadTable) -> Markup:
    """What an invocation costs in each of several workloads."""
    rows = [
        h(
            "tr",
            h("th", line.name, scope="row"),
            [h("td", _cost(cost), data_label=head) for head, cost in zip(table.heads, line.costs, strict=True)],
        )
        for line in table.lines
    ]
    return h(
        "section",
        h(
            "table",
            h("caption", table.title),
            h("thead", h("tr", h("td"), [h("th", head, scope="col") for head in table.heads])),
            h("tbody", rows),
            class_="decision few" if len(table.heads) <= FEW else "decision",
            style=f"--columns: {len(table.heads)}",
        ),
        h("p", table.meaning, class_="caption"),
        aria_label="Workload by workload",
    )


def _cost(cost: WorkloadCost) -> Markup:
    below = numbers.SEPARATOR.join(cost.further)
    return h("span", numbers.unbroken(cost.added), h("br") if below else None, h("small", below) if below else None)


def _side_by_side(choice: ChoiceTable) -> Markup:
    """The table that a choice hangs on: a column for each configuration."""
    names = [f"{row.agent_name} {title_of(row)}" for row in choice.columns]
    heads = [
        h("th", who(row.agent_name, title_of(row), note=LABELS["deferred"] if row.deferred else ""), scope="col")
        for row in choice.columns
    ]
    rows = [
        h(
            "tr",
            h("th", line.label, h("small", " ", line.note) if line.note else None, scope="row"),
            [_cell(line, place, name) for place, name in enumerate(names)],
            class_="minor" if line.minor else None,
        )
        for line in choice.lines
    ]
    more = f" {numbers.in_words(choice.others).capitalize()} more stand under Cost." if choice.others else ""
    return h(
        "section",
        h(
            "table",
            h("caption", f"Side by side: {workload_words(choice.view.part.parameters)}"),
            h("thead", h("tr", h("td"), heads)),
            h("tbody", rows),
            class_="decision few" if len(names) <= FEW else "decision",
            style=f"--columns: {len(names)}",
        ),
        h("p", f"{MEANING}. " if choice.marked else "", reading(choice), more, class_="caption"),
        aria_label="Side by side",
    )


def _cell(line: Quantity, place: int, name: str) -> Markup:
    best = place in line.best
    sign = [h("span", f"{BEST} ", aria_hidden="true"), h("span", "best: ", class_="visually-hidden")] if best else None
    value = h("span", sign, numbers.unbroken(line.cells[place]))
    return h("td", value, class_="best" if best else None, data_label=name)


def _comparisons(findings: Findings) -> Markup | None:
    """Each comparison of two builds; a single one is the verdict already."""
    if len(findings.comparisons) < 2:
        return None
    items = [h("li", numbers.unbroken(comparison.text)) for comparison in findings.comparisons]
    return h("ul", items, class_="statements")


def _notices(findings: Findings, better: tuple[str, str] | None) -> list[Markup]:
    notices: list[Markup] = []
    parts = findings.experiment.parts
    if not findings.experiment.result:
        notices.append(h("p", h("strong", NO_RESULT), class_="notice"))
    elif any(part.indicative for part in parts) and better:
        text = f"{headline.indicative(findings)} To get there: "
        notices.append(h("p", text, h("code", better[1]), class_="notice"))
    return notices + [
        h("p", verdict.text, class_="notice") for verdict in findings.verdicts if verdict.severity != "note"
    ]
