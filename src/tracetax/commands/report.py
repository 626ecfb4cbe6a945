"""``./tracetax report``: what follows from a run's trials, shown again or in another format."""

import sys
from pathlib import Path

from rich.console import Console

from tracetax.analysis.capacity import build_capacity
from tracetax.analysis.findings import build
from tracetax.commands.console import console
from tracetax.errors import ExitCode, UserError
from tracetax.machine.lock import sole_run
from tracetax.report.capacity import render_capacity
from tracetax.report.exports import export
from tracetax.report.page import write_page
from tracetax.report.terminal import render
from tracetax.results.capacity import FILE, write_capacity
from tracetax.results.findings import Findings
from tracetax.results.folder import RunFolder, resume_command


def show_run(path: Path) -> int:
    """Draw a run's table and page anew from its trials."""
    folder = RunFolder(path)
    if folder.manifest.search is not None:
        capacity = build_capacity(folder)
        if not (path / FILE).exists():  # or else the search, which may be going on, writes it itself
            write_capacity(path, capacity)
        render_capacity(capacity, console())
        return ExitCode.OK
    with sole_run():
        findings, page = conclude(folder)
    show(findings, console(), page, path)
    return exit_code(findings)


def show(findings: Findings, terminal: Console, page: Path, path: Path) -> bool:
    """Print a run's answer; returns False where it has none, for no block of it is whole yet, which is said instead."""
    if any(part.blocks for part in findings.experiment.parts):
        render(findings, terminal, page, path)
        return True
    terminal.print(f"Not measured yet: no block of it is whole. Go on with: {resume_command(path)}", soft_wrap=True)
    return False


def export_run(path: Path, name: str, to: Path | None) -> int:
    """Write a finished run's findings in a format, as they are on disk; to standard output where no file is named."""
    folder = RunFolder(path)
    if folder.manifest.search is not None:
        raise UserError(f"{path} is a search: there is nothing to export but its answer, which is {path / FILE}")
    text = export(folder.findings, name)
    if to is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _write(to, text)
    return ExitCode.OK


def conclude(folder: RunFolder) -> tuple[Findings, Path]:
    """Write what follows from the trials: Parquet, findings, page."""
    folder.consolidate()
    findings = build(folder)
    folder.write_findings(findings)
    return findings, write_page(folder.path, findings)


def exit_code(findings: Findings) -> int:
    """1 where a configuration has an error, otherwise 0."""
    failed = any(verdict.severity == "error" for row in findings.configurations for verdict in row.verdicts)
    return ExitCode.FAILED if failed else ExitCode.OK


def _write(to: Path, text: str) -> None:
    if to.is_dir() or not to.parent.is_dir():
        raise UserError(f"--to {to}: {'it is a folder' if to.is_dir() else f'there is no folder {to.parent}'}.")
    part = to.with_name(f"{to.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(to)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"--to {to} cannot be written: {reason}. Name another file.", ExitCode.ENVIRONMENT) from None
