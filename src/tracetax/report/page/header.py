"""The head of the page: the verdict in one sentence, what a service pays, what to be warned of."""

from datetime import datetime

from tracetax.report import numbers, sentences
from tracetax.report.page.html import Markup, h
from tracetax.report.views import INDICATIVE_BELOW, NO_RESULT, PartView
from tracetax.results.findings import Findings
from tracetax.words import plural


def header(findings: Findings, parts: list[PartView], better: tuple[str, str] | None) -> Markup:
    """Everything above the first plot."""
    experiment = findings.experiment
    started = datetime.fromisoformat(experiment.started_at)
    source = [numbers.SEPARATOR, "after ", h("cite", experiment.paper)] if experiment.paper else None
    verdict = sentences.verdict(findings, parts) or "No statement follows from this run."
    service = sentences.service(parts)
    facts = (experiment.key, experiment.workload, experiment.run, f"{started:%Y-%m-%d %H:%M %Z}")
    return h(
        "header",
        h("p", numbers.SEPARATOR.join(facts), source, class_="muted"),
        h("h1", experiment.title),
        h("p", numbers.unbroken(verdict), class_="answer"),
        h("p", numbers.unbroken(service), class_="service") if service else None,
        _comparisons(findings),
        _notices(findings, better),
    )


def _comparisons(findings: Findings) -> Markup | None:
    """Each comparison of two builds; a single one is the verdict already."""
    if len(findings.comparisons) < 2:
        return None
    items = [h("li", numbers.unbroken(one.text)) for one in findings.comparisons]
    return h("ul", items, class_="statements")


def _notices(findings: Findings, better: tuple[str, str] | None) -> list[Markup]:
    notices: list[Markup] = []
    parts = findings.experiment.parts
    if not findings.experiment.result:
        notices.append(h("p", h("strong", NO_RESULT), class_="notice"))
    elif any(part.indicative for part in parts) and better:
        fewest = min(part.blocks for part in parts)
        text = f"Indicative: {plural(fewest, 'block')}, and {INDICATIVE_BELOW} make a result. For those: "
        notices.append(h("p", text, h("code", better[1]), class_="notice"))
    return notices + [
        h("p", verdict.text, class_="notice") for verdict in findings.verdicts if verdict.severity != "note"
    ]
