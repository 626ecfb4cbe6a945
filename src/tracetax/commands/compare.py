"""``./tracetax compare``: two runs against each other, and the gate that tells a script what is slower."""

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tracetax.analysis.compare import compare_runs, slower
from tracetax.analysis.findings import build
from tracetax.commands.console import console
from tracetax.commands.options import AsJson, Flag
from tracetax.errors import ExitCode, UserError
from tracetax.report.compare import comparison_markdown, render_comparison, row_name
from tracetax.results.findings import BuildComparison, Findings
from tracetax.results.folder import RunFolder

GATE = re.compile(r"slower(?:\s+by\s+(\d+(?:\.\d+)?)\s*%)?")


def compare(
    first: Path,
    second: Path,
    /,
    *,
    fail_if: str | None = None,
    as_json: AsJson = False,
    markdown: Flag = False,
) -> int:
    """Compare two runs.

    Parameters
    ----------
    first
        The older run's folder.
    second
        The newer run's folder.
    fail_if
        "slower": exit with status 5 where the overhead of a row grew, its whole 95 % interval above zero.
        "slower by 5 %": where the whole interval of its ratio lies beyond that.
    as_json
        For programs: every measure of every row.
    markdown
        A table to paste into a pull request.
    """
    by = limit(fail_if)
    if first.resolve() == second.resolve():
        raise UserError(f"{first} and {second} are the same run: name two.   (./tracetax list runs)")
    comparison = compare_runs(*(_findings(path) for path in (first, second)))
    if by is not None and not comparison.same_machine:
        raise UserError("--fail-if: the runs are from different machines, so that no verdict follows from them.")
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(comparison), indent=2).decode())
    elif markdown:
        print(comparison_markdown(comparison), end="")
    else:
        render_comparison(comparison, console())
    if by is None:
        return ExitCode.OK
    return gate((f"{row.part_title}: {row_name(row)}" for row in slower(comparison, by)), by, quiet=as_json or markdown)


def limit(text: str | None) -> float | None:
    """What ``--fail-if`` says as a share: 0.05 of ``slower by 5 %``; None where it was not typed. Raises UserError."""
    if text is None:
        return None
    match = GATE.fullmatch(text.strip())
    if match is None:
        raise UserError(f'--fail-if "{text}": there is "slower", and "slower by 5 %" or another percentage.')
    return float(match[1] or 0) / 100


def slower_builds(comparisons: Iterable[BuildComparison], by: float) -> list[str]:
    """Builds that are slower by the whole interval of their ratio: above 1, or above 1 + ``by``."""
    return [
        f"{row.agent} {row.configuration}, {row.builds[1]} against {row.builds[0]}"
        for row in comparisons
        if row.verdict == "slower" and row.ratio.ci95 and row.ratio.ci95[0] > 1 + by
    ]


def gate(names: Iterable[str], by: float, *, quiet: bool = False) -> int:
    """Say what is slower, and the exit status that follows."""
    slow = list(names)
    if slow and not quiet:
        beyond = f" by more than {by * 100:g} %" if by else ""
        console().print(f"Slower{beyond}, by the whole interval: {'; '.join(slow)}.", soft_wrap=True)
    return ExitCode.SLOWER if slow else ExitCode.OK


def _findings(path: Path) -> Findings:
    """A run's findings as this version sees them. Raises UserError where it is a search, or has no whole block."""
    folder = RunFolder(path)
    if folder.manifest.search is not None:
        raise UserError(f"{path} is a search: only runs are compared.")
    findings = build(folder)
    if not any(row.measures for row in findings.configurations):
        raise UserError(f"{path} has no whole block yet: there is nothing to compare.")
    return findings
