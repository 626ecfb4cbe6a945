"""``./tracetax test``: every check of this project's own code, then its tests.

All checks run, whatever fails before; each tells how long it took, a failing one what it found. The last line is
pytest's own summary.
"""

import os
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.check import Check, Outcome, describe, end_all, run_check
from checks.project import checks
from tracetax.artifacts import cache_dir
from tracetax.errors import ExitCode
from tracetax.machine.limits import usable_cores

AT_ONCE = 4
"""Checks, or files of tests, that run side by side at most: a trial takes up to 2 GiB of memory."""


def run_checks(root: Path, arguments: Sequence[str]) -> ExitCode:
    """Run every check on the clone ``root``, then pytest with ``arguments``; tells all on standard output."""
    outcomes: list[Outcome] = []
    for outcome in side_by_side(checks(root, cache_dir(os.environ))):
        outcomes.append(outcome)
        print(describe(outcome), flush=True)
    start = time.monotonic()
    status, summary = run_pytest(root, arguments)
    outcomes.append(Outcome("pytest", "FAILED" if status else "ok", time.monotonic() - start))
    print(describe(outcomes[-1]))
    if failed := [outcome.name for outcome in outcomes if outcome.state == "FAILED"]:
        print(f"{len(failed)} of {len(outcomes)} checks failed: {', '.join(failed)}")
    print(summary, flush=True)
    return ExitCode.FAILED if failed else ExitCode.OK


def side_by_side(every: Iterable[Check]) -> Generator[Outcome]:
    """What came of each check, in their order; as many run at once as there are cores, up to four.

    Whoever ends this early, by Ctrl-C too, ends the checks that run, and no other begins.
    """
    with ThreadPoolExecutor(min(AT_ONCE, usable_cores())) as threads:
        pending = [threads.submit(run_check, check) for check in every]
        try:
            for future in pending:
                yield future.result()
        finally:
            for future in pending:
                future.cancel()
            while not all(future.done() for future in pending):  # one may begin just now
                end_all()
                time.sleep(0.05)


def run_pytest(root: Path, arguments: Sequence[str]) -> tuple[int, str]:
    """Run the tests side by side; their output is passed on as it comes, the last line held back.

    Returns the status and that line. A later option of ``arguments`` wins: ``-n 0`` runs one test after the other.
    The tests of a file stay together, for they share what they set up. One process more than there are cores runs
    them, up to four, for many tests wait: for a time-out, a rate, a program's end. Files come in the order of
    tests/conftest.py, the longest first: none runs alone at the end.
    """
    workers = (f"--numprocesses={min(AT_ONCE, usable_cores() + 1)}", "--dist=loadfile", "--no-loadscope-reorder")
    held = ""
    with subprocess.Popen(
        (sys.executable, "-m", "pytest", *workers, *arguments),
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pytest:
        assert pytest.stdout is not None
        for line in pytest.stdout:
            if held:
                print(held, flush=True)
            held = line.rstrip()
    return pytest.returncode, held
