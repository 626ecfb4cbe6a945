"""Warnings and notes: those of the run and of trials that failed here, those of a row beside the row."""

from collections.abc import Iterable, Sequence

from tracetax.report.page.html import Child, Markup, caption, h, section
from tracetax.results.findings import Findings
from tracetax.results.records import TrialRecord, Verdict

MARKS = {"error": "✗", "warning": "⚠", "note": "·"}
ORDER = ("error", "warning", "note")


def verdicts(findings: Findings, trials: list[TrialRecord]) -> Markup:
    """The section with the notes on the run, whose warnings stand on top of the page, and each failed trial's log."""
    titles = {part.name: part.title for part in findings.experiment.parts}
    notes = [verdict for verdict in findings.verdicts if verdict.severity == "note"]
    items: list[tuple[str, Child, Verdict]] = [("The run", None, verdict) for verdict in notes]
    for (part, name, _), failed in _alike(trials).items():
        links = [
            [" ", h("a", f"log {trial.number}", href=f"logs/{trial.number:04d}/stderr.txt")] for trial, _ in failed
        ]
        number = "Trial" if len(failed) == 1 else "Trials"
        where = f"{number} {', '.join(str(trial.number) for trial, _ in failed)}, {name}: {titles.get(part, part)}"
        items.append((where, links, failed[0][1]))
    items.sort(key=lambda item: ORDER.index(item[2].severity))
    body = h("ul", _items(items), class_="verdicts") if items else h("p", "No note on the run, and no trial failed.")
    where = caption("The run's warnings stand on top of the page; those of a configuration beside its row, under Cost.")
    return section("verdicts", "Warnings and notes on the run", where, body, folded=True)


def beside(verdicts: Sequence[Verdict]) -> Markup | None:
    """A row's warnings and notes, folded under how many there are; None where there is none."""
    if not verdicts:
        return None
    counts = [(sum(verdict.severity == severity for verdict in verdicts), severity) for severity in ("warning", "note")]
    many = " and ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
    sign = h("span", f"{MARKS['warning']} ", aria_hidden="true", class_="sign") if counts[0][0] else None
    items = [h("li", h("code", verdict.code), " ", verdict.text) for verdict in verdicts]
    return h("details", h("summary", sign, many), h("ul", items), class_="remarks")


def _alike(trials: list[TrialRecord]) -> dict[tuple[str, str, str], list[tuple[TrialRecord, Verdict]]]:
    """Failed trials with their verdicts, by part, configuration and code: what failed alike is told once."""
    alike: dict[tuple[str, str, str], list[tuple[TrialRecord, Verdict]]] = {}
    for trial in trials:
        if trial.status == "failed":
            use = trial.cell.use
            name = "baseline" if trial.cell.is_baseline else f"{use.agent} {use.configuration}"
            for verdict in trial.verdicts:
                alike.setdefault((trial.cell.part, name, verdict.code), []).append((trial, verdict))
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
