"""The page: one self-contained HTML file, no script, no network. The verdict first, the evidence below it."""

import statistics
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from tracetax.report import numbers
from tracetax.report.page.account import account
from tracetax.report.page.delivery import delivery
from tracetax.report.page.html import Markup, h
from tracetax.report.page.percentiles import percentiles
from tracetax.report.page.provenance import commands, machine, reproduction, versions
from tracetax.report.page.ranking import ranking
from tracetax.report.page.series import read_lines, series
from tracetax.report.page.verdicts import verdicts
from tracetax.report.views import INDICATIVE_BELOW, NO_RESULT, next_line, views
from tracetax.results.findings import Findings
from tracetax.results.folder import RunFolder, disk_errors
from tracetax.results.records import TrialRecord

NAVIGATION = {
    "ranking": "Cost",
    "delivery": "Delivery",
    "percentiles": "Distribution",
    "series": "Trials",
    "account": "Records",
    "verdicts": "Verdicts",
    "machine": "Machine",
    "versions": "Versions",
    "commands": "Commands",
    "reproduce": "Reproduce",
}


def write_page(run_dir: Path, findings: Findings) -> Path:
    """Write ``report.html`` into a run folder and return its path. Raises UserError where it cannot be written.

    Reads the manifest, the trials' records and ``series.parquet`` of the folder; trials without a series are shown
    without one.
    """
    folder = RunFolder(run_dir)
    trials = folder.records()
    lines = read_lines(run_dir / "series.parquet", len(trials))
    parts = views(findings)
    better = next_line(findings, run_dir) if findings.experiment.result else None
    tick = _clock_tick(trials)
    sections = [
        ranking(parts, tick),
        delivery(parts),
        percentiles(parts, tick),
        series(parts, trials, lines),
        account(parts),
        verdicts(findings, trials),
        machine(findings),
        versions(findings, trials),
        commands(findings, trials),
        reproduction(findings, folder.manifest, better),
    ]
    page = run_dir / "report.html"
    with disk_errors(run_dir):
        part = page.with_name(page.name + ".part")
        part.write_text(_document(findings, better, sections), encoding="utf-8")
        part.replace(page)
    return page


def _clock_tick(trials: list[TrialRecord]) -> float:
    ticks = [trial.clock_resolution_ns for trial in trials if trial.clock_resolution_ns]
    return statistics.median(ticks) if ticks else 0.0


def _document(findings: Findings, better: tuple[str, str] | None, sections: list[Markup]) -> str:
    experiment = findings.experiment
    style = files(__package__ or __name__).joinpath("style.css").read_text(encoding="utf-8")
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("meta", name="generator", content=f"tracetax {findings.tool_version}"),
        h("title", f"{experiment.title} · {experiment.run}"),
        h("style", Markup(style)),
    )
    navigation = h("nav", [h("a", name, href=f"#{key}") for key, name in NAVIGATION.items()], aria_label="Sections")
    body = h("body", _header(findings, better), navigation, h("main", sections), _footer(findings))
    return "<!DOCTYPE html>\n" + h("html", head, body, lang="en") + "\n"


def _header(findings: Findings, better: tuple[str, str] | None) -> Markup:
    experiment = findings.experiment
    started = datetime.fromisoformat(experiment.started_at)
    source = [numbers.SEPARATOR, "after ", h("cite", experiment.paper)] if experiment.paper else None
    statements = [
        h("p", numbers.unbroken(statement.text), title=", ".join(statement.rests_on))
        for statement in findings.statements
    ]
    notices: list[Markup] = []
    if not experiment.result:
        notices.append(h("p", h("strong", NO_RESULT), class_="notice"))
    elif any(part.indicative for part in experiment.parts) and better:
        fewest = min(part.blocks for part in experiment.parts)
        text = f"Indicative: {fewest} blocks, and {INDICATIVE_BELOW} make a result. For those: "
        notices.append(h("p", text, h("code", better[1]), class_="notice"))
    notices += [h("p", verdict.text, class_="notice") for verdict in findings.verdicts if verdict.severity != "note"]
    return h(
        "header",
        h(
            "p",
            numbers.SEPARATOR.join(
                (experiment.key, experiment.workload, experiment.run, f"{started:%Y-%m-%d %H:%M %Z}")
            ),
            source,
            class_="muted",
        ),
        h("h1", experiment.title),
        h("div", statements or h("p", "No statement follows from this run."), class_="answer"),
        notices,
    )


def _footer(findings: Findings) -> Markup:
    return h("footer", h("p", f"tracetax {findings.tool_version} · findings.json, version {findings.schema_version}"))
