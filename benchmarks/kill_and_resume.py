"""Kill a run again and again at random moments, resume it each time, and check that nothing was lost or left behind.

    .venv/bin/python benchmarks/kill_and_resume.py [--kills 20] [--seed 1]

Each kill is a SIGKILL of the tool alone, some seconds after its start. After each: every trial that was finished
before is still there to the byte, and no process of the run is left. At the end the run is resumed to its end, and
its findings are compared in form (rows, measures, types) with those of a run that nobody killed.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from faultlib.runs import finished_trials, lost_trials, processes_of
from faultlib.tools import heed_endings, start

EXPERIMENT = """
title = "Killed and resumed"
workload = "calltree/java"
result = false
[parameters]
calls = 2_000
depth = 10
[jvm]
heap = "256 MiB"
[[configurations]]
agent = "kieker"
use = ["deactivated", "binary-tcp"]
[schedule]
blocks = { min = 12, max = 12 }
budget = "1h"
"""


def form(value: Any) -> Any:
    """The shape of findings: keys and types, rows by their names, numbers left out."""
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        return {key: form(one) for key, one in members.items() if key not in ("labels", "unexpected", "machine")}
    if isinstance(value, list):
        items = cast(list[Any], value)
        rows = [f"{one['part']}/{one['agent']}/{one['configuration']}" for one in items if "configuration" in one]
        measures = [f"{one['name']}/{one['per']}/{one['unit']}" for one in items if "per" in one]
        return rows or measures or sorted({type(one).__name__ for one in items})
    return "number" if isinstance(value, int | float) else type(value).__name__


def main() -> int:
    """Run the check; the exit status says whether it held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    lost = left = 0
    heed_endings()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        experiment, run, log = place / "killed.toml", place / "run", place / "log"
        experiment.write_text(EXPERIMENT)
        for kill in range(1, options.kills + 1):
            resumes = (run / "manifest.json").exists()
            tool = start(
                ["--resume", str(run)] if resumes else [str(experiment), "--out", str(run), "--seed", "1"], log
            )
            wait = moments.uniform(1.5, 9.0)
            time.sleep(wait)
            before = finished_trials(run)
            tool.kill()
            tool.wait()
            time.sleep(0.5)
            after = finished_trials(run)
            gone = lost_trials(before, after)
            living = processes_of(run)
            lost += len(gone)
            left += len(living)
            print(
                f"kill {kill:2} after {wait:4.1f} s: {len(after):3} finished trials, {len(gone)} lost, "
                f"{len(living)} processes left {living or ''}",
                flush=True,
            )
        status = start(["--resume", str(run)], log).wait()
        reference = place / "reference"
        unharmed = start([str(experiment), "--out", str(reference), "--seed", "1"], log).wait()
        if status or unharmed:
            print(log.read_text())
        shapes = [form(json.loads((path / "findings.json").read_text())) for path in (run, reference)]
        print(f"{options.kills} kills: {lost} finished trials lost, {left} processes left")
        print(f"findings equal in form to those of a run that nobody killed: {shapes[0] == shapes[1]}")
        print(f"exit status of the last resume {status}, of the unharmed run {unharmed}")
        return 0 if not (lost or left or status or unharmed) and shapes[0] == shapes[1] else 1


if __name__ == "__main__":
    sys.exit(main())
