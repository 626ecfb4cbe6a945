"""``./tracetax list`` and ``doctor``: what there is, as tables."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.table import Table
from rich.text import Text

from tracetax.artifacts import cache_dir
from tracetax.catalog import load_agents, load_catalog, load_experiments
from tracetax.catalog.backend_file import load_backends
from tracetax.catalog.uses import Known, unknown_agent
from tracetax.commands.console import console
from tracetax.commands.request import DEFAULT_EXPERIMENT
from tracetax.errors import ExitCode, UserError
from tracetax.machine.doctor import diagnose
from tracetax.results.folder import RunFolder
from tracetax.run.describe import estimate_words
from tracetax.run.plan import cells, memory_needed

MARKS = {"ok": Text("✓", "green"), "warn": Text("⚠", "yellow"), "missing": Text("✗", "red"), "unseen": Text("–", "dim")}


def agents(root: Path, own: Sequence[Path] = ()) -> None:
    """Every agent with its version and what it is."""
    table = _table("agent", "name", "version", "instrumentation", "licence", "configurations")
    for key, agent in load_agents(root, own).items():
        table.add_row(
            *(key, agent.name, agent.version or "–", agent.instrumentation, agent.licence),
            str(sum(":" not in name for name in agent.configurations)),
        )
    console().print(table)


def backends(root: Path) -> None:
    """Every real backend with what it takes."""
    table = _table("backend", "name", "version", "takes", "licence")
    for key, backend in load_backends(root).items():
        table.add_row(key, backend.name, backend.version, ", ".join(backend.accepts), backend.licence)
    console().print(table)


def configurations(root: Path, only: str | None, own: Sequence[Path] = ()) -> None:
    """Every configuration with what it contains and promises."""
    every = load_agents(root, own)
    if only is not None and only not in every:
        raise UserError(unknown_agent(only, Known(every)))
    table = _table("agent", "configuration", "title", "layers", "promises", "profile")
    for key, agent in every.items():
        for name, config in agent.configurations.items():
            if only in (None, key) and ":" not in name:
                table.add_row(
                    key, name, config.title, "+".join(config.layers), str(config.delivery), config.profile or "–"
                )
    console().print(table)
    for key, agent in every.items():
        others = [name for name in agent.technologies if name != agent.technology]
        if others and only in (None, key):
            each = f"Each of {key} in {agent.technologies[agent.technology].title}; also as NAME:TECHNOLOGY, with "
            console().print(f"{each}{', '.join(others)}.", soft_wrap=True)


def experiments(root: Path) -> None:
    """Every experiment with its estimated time."""
    known = load_agents(root)
    table = _table("experiment", "title", "parts", "time")
    for name, experiment in load_experiments(known, root).items():
        table.add_row(name, experiment.title, str(len(experiment.parts)), estimate_words(experiment, known))
    console().print(table)


def runs(folder: Path) -> None:
    """Every run in the working directory's ``runs``, newest last."""
    table = _table("run", "experiment", "started", "trials", "ended")
    found = sorted(folder.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime)
    for path in found:
        try:
            run = RunFolder(path.parent)
            manifest = run.manifest
        except UserError as error:
            table.add_row(str(path.parent), "unreadable", "", "", str(error))
            continue
        first, last = manifest.invocations[0], manifest.invocations[-1]
        trials = str(len(run.trial_folders()))
        table.add_row(str(path.parent), first.experiment.key, first.started_at, trials, last.ended or "did not end")
    if found:
        console().print(table)
    else:
        console().print(f"No run in {folder}/ yet.   (./tracetax run)")


def doctor(root: Path, *, as_json: bool = False) -> int:
    """The state of toolchain and machine; the exit code says whether something is missing."""
    found = diagnose(root, cache_dir(os.environ), Path.cwd(), _default_memory(root))
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    else:
        table = _table("", "", "", "what to do")
        for row in found.rows:
            table.add_row(MARKS[row.state], row.name, row.value, row.advice)
        console().print(table)
    return ExitCode.ENVIRONMENT if any(row.state == "missing" for row in found.rows) else ExitCode.OK


def _default_memory(root: Path) -> int | None:
    """Memory that a trial of the default experiment takes; None where its files have mistakes, which a run reports."""
    try:
        agents, experiment = load_catalog(DEFAULT_EXPERIMENT, root)
    except UserError:
        return None
    return max(memory_needed(cell, {}) for cell in cells(experiment, agents))


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(header, overflow="fold")
    return table
