"""``./tracetax list`` and ``doctor``: what there is, as tables or for programs."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from tracetax.artifacts import cache_dir
from tracetax.catalog import every_agent, load_catalog, load_experiments
from tracetax.catalog.agent_file import unknown_agent
from tracetax.catalog.backends import load_backends
from tracetax.catalog.command_line import WORKLOAD
from tracetax.catalog.experiment_file import agents_of
from tracetax.catalog.runtime_file import by_language, sound_runtimes
from tracetax.catalog.workload_file import load_workload, workload_names
from tracetax.commands.console import console
from tracetax.commands.request import DEFAULT_EXPERIMENT
from tracetax.errors import ExitCode, UserError
from tracetax.machine.doctor import diagnose
from tracetax.model import BASELINE, Agent, kind_name, language_of
from tracetax.results.folder import RunFolder
from tracetax.run.describe import estimate_words
from tracetax.run.plan import cells, memory_needed

MARKS = {"ok": Text("✓", "green"), "warn": Text("⚠", "yellow"), "missing": Text("✗", "red"), "unseen": Text("–", "dim")}
TYPED = frozenset({"agent", "backend", "configuration", "experiment", "run", "workload"})
"""Columns whose names are copied into commands: they are never wrapped."""
PROSE_WIDTH = 12
"""Letters that each other column gets at least, also where the terminal is too narrow."""
KINDS = ("agents", "backends", "configurations", "experiments", "runs", "workloads")
FOLDER = Path("runs")
"""Where runs lie unless ``--out`` says otherwise: in the working directory."""

Row: TypeAlias = dict[str, str | int | list[str] | None]


def show_list(what: str, root: Path, own: Sequence[Path] = (), only: str | None = None, *, as_json: bool) -> None:
    """Show one of the listings: a table, or JSON with one object per row. ``only``: this agent's configurations."""
    if only is not None and what != "configurations":
        raise UserError(f'"{only}" goes with configurations: ./tracetax list configurations {only}')
    rows = {
        "agents": lambda: agents(root, own),
        "backends": lambda: backends(root),
        "configurations": lambda: configurations(root, only, own),
        "experiments": lambda: experiments(root),
        "runs": lambda: runs(FOLDER),
        "workloads": lambda: workloads(root, own),
    }[what]()
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return
    if not rows and what == "runs":
        console().print(f"No run in {FOLDER}/ yet.   (./tracetax run)")
        return
    _print_table(_without_only_language(rows))
    if what == "configurations":
        _print_technologies(every_agent(root, own).single, only)


def agents(root: Path, own: Sequence[Path] = ()) -> list[Row]:
    """Every agent for every language, with its version and what it is."""
    return [
        {
            "agent": agent.key,
            "language": agent.place,
            "name": agent.name,
            "version": agent.version or None,
            "instrumentation": agent.instrumentation,
            "licence": agent.licence,
            "configurations": sum(":" not in name for name in agent.configurations),
        }
        for agent in every_agent(root, own).single
    ]


def backends(root: Path) -> list[Row]:
    """Every real backend with what it takes."""
    return [
        {
            "backend": key,
            "name": backend.name,
            "version": backend.version,
            "takes": list(backend.accepts),
            "licence": backend.licence,
        }
        for key, backend in load_backends(root).items()
    ]


def configurations(root: Path, only: str | None, own: Sequence[Path] = ()) -> list[Row]:
    """Every configuration with what it contains and promises; of one agent where ``only`` names it."""
    every = every_agent(root, own)
    if only is not None and only not in every.products:
        raise UserError(unknown_agent(only, every.of("")))
    return [
        {
            "agent": agent.key,
            "language": agent.place,
            "configuration": name,
            "title": config.title,
            "layers": "+".join(config.layers),
            "promises": str(config.delivery),
            "profile": config.profile,
        }
        for agent in every.single
        for name, config in agent.configurations.items()
        if only in (None, agent.key) and ":" not in name
    ]


def experiments(root: Path) -> list[Row]:
    """Every experiment with its estimated time."""
    every = every_agent(root)
    return [
        {
            "experiment": name,
            "title": experiment.title,
            "parts": len(experiment.parts),
            "time": estimate_words(experiment, agents_of(experiment, every)),
        }
        for name, experiment in load_experiments(every, root).items()
    ]


def workloads(root: Path, own: Sequence[Path] = ()) -> list[Row]:
    """Every program that can be measured, with what it runs on and the agents for its language."""
    every = every_agent(root, own)
    rows: list[Row] = []
    for name in workload_names(root):
        workload, runtime = load_workload(name, root)
        known = [key for key in every.of(language_of(name), kind_name(name)).agents if key != BASELINE.agent]
        rows.append({"workload": name, "title": workload.title, "runtime": runtime.name, "agents": known})
    return rows


def runs(folder: Path) -> list[Row]:
    """Every run in a folder, newest last."""
    rows: list[Row] = []
    for path in sorted(folder.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime):
        try:
            run = RunFolder(path.parent)
            manifest = run.manifest
        except UserError as error:
            rows.append(
                {"run": str(path.parent), "experiment": None, "started": None, "trials": None, "ended": str(error)}
            )
            continue
        first, last = manifest.invocations[0], manifest.invocations[-1]
        rows.append(
            {
                "run": str(path.parent),
                "experiment": first.experiment.key,
                "started": first.started_at,
                "trials": len(run.trial_folders()),
                "ended": last.ended or "did not end",
            }
        )
    return rows


def doctor(root: Path, *, as_json: bool = False) -> int:
    """The state of toolchain and machine; the exit code says whether something is missing."""
    runtimes = sound_runtimes(root)
    default = by_language(runtimes).get(language_of(WORKLOAD))
    others = [runtime for runtime in runtimes.values() if runtime != default]
    runtimes_first = [*([default] if default else []), *others]
    diagnosis = diagnose(root, cache_dir(os.environ), Path.cwd(), _default_memory(root), runtimes_first)
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(diagnosis), indent=2).decode())
    else:
        table = _table("", "", "", "what to do")
        for row in diagnosis.rows:
            table.add_row(MARKS[row.state], row.name, row.value, row.advice)
        console().print(table)
    return ExitCode.ENVIRONMENT if any(row.state == "missing" for row in diagnosis.rows) else ExitCode.OK


def _default_memory(root: Path) -> int | None:
    """Memory that a trial of the default experiment takes; None where its files have mistakes, which a run reports."""
    try:
        agents, experiment = load_catalog(DEFAULT_EXPERIMENT, root)
    except UserError:
        return None
    return max(memory_needed(cell, {}) for cell in cells(experiment, agents))


def _without_only_language(rows: list[Row]) -> list[Row]:
    """The rows of a table, without a language that is the same in all of them."""
    if len({str(row.get("language")) for row in rows}) > 1:
        return rows
    return [{key: value for key, value in row.items() if key != "language"} for row in rows]


def _print_table(rows: Sequence[Row]) -> None:
    """A table of rows with the same keys. Piped, each row is one line; on a terminal only prose is folded."""
    if not rows:
        return
    terminal = console()
    headers = list(rows[0])
    texts = [[_cell(row[header]) for header in headers] for row in rows]
    widths = [max(map(cell_len, (header, *column))) for header, *column in zip(headers, *texts, strict=True)]
    table = _table()
    for header, width in zip(headers, widths, strict=True):
        named = header in TYPED or not terminal.is_terminal
        table.add_column(header, overflow="fold", no_wrap=named, min_width=width if named else None)
    for cells_of_row in texts:
        table.add_row(*map(Text, cells_of_row))
    least = [
        width if header in TYPED or not terminal.is_terminal else min(width, PROSE_WIDTH)
        for header, width in zip(headers, widths, strict=True)
    ]
    needed = sum(least) + 2 * len(least)
    terminal.width = max(terminal.width, needed) if terminal.is_terminal else needed
    terminal.print(table, crop=False)


def _cell(value: str | int | list[str] | None) -> str:
    """A value as a table shows it, in one line."""
    if value is None:
        return "–"
    return ", ".join(value) if isinstance(value, list) else " ".join(str(value).split())


def _print_technologies(every: Sequence[Agent], only: str | None) -> None:
    for agent in every:
        others = [name for name in agent.technologies if name != agent.technology]
        if others and only in (None, agent.key):
            each = (
                f"Each of {agent.key} in {agent.technologies[agent.technology].title}; also as NAME:TECHNOLOGY, with "
            )
            console().print(f"{each}{', '.join(others)}.", soft_wrap=True)


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(header, overflow="fold")
    return table
