"""Judgements on the run, on configurations and on trials that failed, each with the sentence that explains it."""

from collections.abc import Iterable

from tracetax.report.page.html import Child, Markup, h, section
from tracetax.report.views import is_baseline, title_of
from tracetax.results.findings import Findings
from tracetax.results.records import TrialRecord, Verdict

MARKS = {"error": "✗", "warning": "⚠", "note": "·"}
ORDER = ("error", "warning", "note")


def verdicts(findings: Findings, trials: list[TrialRecord]) -> Markup:
    """The section with every verdict, errors first, and each failed trial with its log."""
    titles = {part.name: part.title for part in findings.experiment.parts}
    items: list[tuple[str, Child, Verdict]] = [("The run", None, verdict) for verdict in findings.verdicts]
    for row in findings.configurations:
        where = f"{row.agent_name}, {title_of(row)}: {titles.get(row.part, row.part)}"
        items += [(where, None, verdict) for verdict in row.verdicts]
    for (part, name, _), failed in _alike(trials).items():
        links = [
            [" ", h("a", f"log {trial.number}", href=f"logs/{trial.number:04d}/stderr.txt")] for trial, _ in failed
        ]
        number = "Trial" if len(failed) == 1 else "Trials"
        where = f"{number} {', '.join(str(trial.number) for trial, _ in failed)}, {name}: {titles.get(part, part)}"
        items.append((where, links, failed[0][1]))
    items.sort(key=lambda item: ORDER.index(item[2].severity))
    body = h("ul", _items(items), class_="verdicts") if items else h("p", "Nothing to object to.")
    return section("verdicts", "Verdicts", body)


def _alike(trials: list[TrialRecord]) -> dict[tuple[str, str, str], list[tuple[TrialRecord, Verdict]]]:
    """Failed trials with their verdicts, by part, configuration and code: what failed alike is told once."""
    alike: dict[tuple[str, str, str], list[tuple[TrialRecord, Verdict]]] = {}
    for trial in trials:
        if trial.status == "failed":
            name = "baseline" if is_baseline(trial) else f"{trial.agent} {trial.configuration}"
            for verdict in trial.verdicts:
                alike.setdefault((trial.part, name, verdict.code), []).append((trial, verdict))
    return alike


def _items(items: Iterable[tuple[str, Child, Verdict]]) -> list[Markup]:
    return [
        h(
            "li",
            h("span", MARKS[verdict.severity], class_="sign", aria_hidden="true"),
            h("div", h("strong", where), " ", h("code", verdict.code), h("br"), verdict.text, links),
            class_=verdict.severity,
        )
        for where, links, verdict in items
    ]
