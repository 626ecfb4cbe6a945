"""The page: one self-contained HTML file, no script, no network. The verdict first, the evidence folded below it."""

import statistics
from importlib.resources import files
from pathlib import Path

from tracetax.report.decision import decision
from tracetax.report.page.account import account
from tracetax.report.page.behind import behind
from tracetax.report.page.builds import builds
from tracetax.report.page.consists import consists
from tracetax.report.page.curves import curves
from tracetax.report.page.delivery import delivery
from tracetax.report.page.footprint import footprint
from tracetax.report.page.functions import functions
from tracetax.report.page.growth import growth
from tracetax.report.page.header import header
from tracetax.report.page.html import Markup, chapter, h, patterns
from tracetax.report.page.layers import layers
from tracetax.report.page.papers import papers
from tracetax.report.page.percentiles import percentiles
from tracetax.report.page.processes import processes
from tracetax.report.page.provenance import commands, machine, reproduction, versions
from tracetax.report.page.ranking import ranking
from tracetax.report.page.releases import releases
from tracetax.report.page.series import read_lines, series
from tracetax.report.page.verdicts import verdicts
from tracetax.report.views import next_line, ranked_by, views
from tracetax.report.workloads import workload_tables
from tracetax.results.findings import Findings
from tracetax.results.folder import RunFolder, disk_errors
from tracetax.results.records import OUTSIDE_BLOCKS, TrialRecord

Chapter = tuple[str, str, str, list[Markup | None]]
"""Its id, its name in the navigation, what it is about, and its sections; None where the run has nothing for one."""


def write_page(run_dir: Path, findings: Findings) -> Path:
    """Write ``report.html`` into a run folder and return its path. Raises UserError where it cannot be written.

    Reads the manifest, the trials' records and ``series.parquet`` of the folder; trials without a series are shown
    without one.
    """
    folder = RunFolder(run_dir)
    trials = folder.records()
    timed = [trial for trial in trials if trial.cell.role not in OUTSIDE_BLOCKS]
    lines = read_lines(run_dir / "series.parquet", len(timed))
    parts = views(findings)
    better = next_line(findings, run_dir) if findings.experiment.result else None
    tick = _clock_tick(trials)
    told = [verdict.code for verdict in findings.verdicts]
    costs: list[Markup | None] = [
        builds(parts, findings.comparisons),
        ranking(parts, ranked_by(findings), told),
        papers(parts, findings.experiment.paper),
        growth(parts, findings.growth),
        releases(parts),
        functions(parts),
        consists(parts),
        processes(parts),
        curves(parts, timed, run_dir / "distributions.parquet"),
        layers(parts),
    ]
    details: list[Markup | None] = [
        percentiles(parts, tick),
        series(parts, timed, lines),
        verdicts(findings, trials),
        machine(findings),
        versions(findings, trials),
        commands(findings, trials),
        reproduction(findings, folder.manifest, better),
        behind(parts, trials),
    ]
    chapters: list[Chapter] = [
        ("cost", "Cost", "every configuration, with intervals", costs),
        ("records", "Delivery", "which records arrived", [delivery(parts, findings), account(parts)]),
        (
            "memory",
            "Memory and start",
            "and bytes, and when the last record arrived",
            [footprint(parts)],
        ),
        ("details", "Details", "distributions, every trial, machine, versions, commands", details),
    ]
    page = run_dir / "report.html"
    with disk_errors(run_dir):
        part = page.with_name(page.name + ".part")
        across = bool(workload_tables(parts))
        choice = None if across else decision(findings, parts)
        top = header(findings, parts, choice, better)
        part.write_text(
            _document(
                findings, top, chapters, unfolded="" if (choice or across) and not findings.comparisons else "cost"
            ),
            encoding="utf-8",
        )
        part.replace(page)
    return page


def _clock_tick(trials: list[TrialRecord]) -> float:
    ticks = [trial.clock_resolution_ns for trial in trials if trial.clock_resolution_ns]
    return statistics.median(ticks) if ticks else 0.0


def _document(findings: Findings, top: Markup, chapters: list[Chapter], unfolded: str) -> str:
    """The page; ``unfolded`` is the chapter that is open from the start, where nothing on top tells what it tells."""
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
    there = [
        (key, name, lead, content)
        for key, name, lead, sections in chapters
        if (content := [section for section in sections if section])
    ]
    skip = h("a", "Skip to the numbers", href="#numbers", class_="skip")
    navigation = h("nav", [h("a", name, href=f"#{key}") for key, name, _, _ in there], aria_label="Chapters")
    folded = [chapter(key, name, lead, content, key == unfolded) for key, name, lead, content in there]
    main = h("main", folded, id="numbers", tabindex=-1)
    foot = h("footer", h("p", f"tracetax {findings.tool_version} · findings.json, version {findings.schema_version}"))
    body = h("body", skip, patterns(), top, navigation, main, foot)
    return "<!DOCTYPE html>\n" + h("html", head, body, lang="en") + "\n"
