"""``./tracetax test``: every check of this project's own code, then its tests.

All checks run, whatever fails before; each tells how long it took, a failing one what it found. The last line is
pytest's own summary.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from checks.check import Outcome, describe, run_check
from checks.project import checks
from tracetax.artifacts import cache_dir
from tracetax.errors import ExitCode
from tracetax.machine.limits import usable_cores

AT_ONCE = 4
"""Files of tests that run side by side at most, on as many cores: a trial takes up to 2 GiB of memory."""


def run_checks(root: Path, arguments: Sequence[str]) -> ExitCode:
    """Run every check on the clone ``root``, then pytest with ``arguments``; tells all on standard output."""
    outcomes: list[Outcome] = []
    for check in checks(root, cache_dir(os.environ)):
        outcomes.append(run_check(check))
        print(describe(outcomes[-1]), flush=True)
    start = time.monotonic()
    status, summary = run_pytest(root, arguments)
    outcomes.append(Outcome("pytest", "FAILED" if status else "ok", time.monotonic() - start))
    print(describe(outcomes[-1]))
    if failed := [outcome.name for outcome in outcomes if outcome.state == "FAILED"]:
        print(f"{len(failed)} of {len(outcomes)} checks failed: {', '.join(failed)}")
    print(summary, flush=True)
    return ExitCode.FAILED if failed else ExitCode.OK


def run_pytest(root: Path, arguments: Sequence[str]) -> tuple[int, str]:
    """Run the tests on all cores, up to four; their output is passed on as it comes, the last line held back.

    Returns the status and that line. A later option of ``arguments`` wins: ``-n 0`` runs one test after the other.
    The tests of a file stay together, for they share what they set up.
    """
    side_by_side = (f"--numprocesses={min(AT_ONCE, usable_cores())}", "--dist=loadfile")
    held = ""
    with subprocess.Popen(
        (sys.executable, "-m", "pytest", *side_by_side, *arguments),
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
