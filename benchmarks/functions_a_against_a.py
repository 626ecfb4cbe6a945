"""Cold starts against themselves: how often is a difference found where there is none?

    PYTHONPATH=src .venv/bin/python benchmarks/functions_a_against_a.py [--runs 10] [--blocks 30] [--to FILE]

A run is a `./tracetax run` of its own, of cold starts in Python and Node: in each block the two baselines, and an agent
that does nothing in two configurations, in random order. So it has four comparisons of as many starts against as many,
no start in two of them: in each language the first configuration against the first baseline, and the second against the
second. Called different is what a 95 % interval says that excludes no difference. What the tool says of each row, which
has both baselines beside it, is a column of its own: two rows of a run share their baselines.

A line per comparison is appended to docs/results/functions-a-against-a.csv as each run has ended; runs that are there
are not made again. Of 40 comparisons 2 are expected; the exact interval of the share must reach down to 5 %.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from a_against_a import told_share
from kept import append, read
from tracetax.results.blocks import service_mean, side_by_side, whole_blocks
from tracetax.results.findings import Findings, find_measure
from tracetax.results.folder import RunFolder
from tracetax.results.records import Role
from tracetax.statistics.overhead import compare_paired

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results/functions-a-against-a.csv"
AGENT = """
name = "Same"
homepage = "https://example.org"
licence = "MIT"
language = "{language}"
kinds = ["functions"]
version = "1"
runtime = {{ min = 1, tested = [1] }}
instrumentation = "none"
[common]
record_name = "*"
[configurations.first]
title = "the same once more"
layers = ["I"]
delivery = "none"
[configurations.second]
title = "the same once more"
layers = ["I"]
delivery = "none"
"""
EXPERIMENT = """
title = "Cold starts against themselves"
workload = ["functions/python", "functions/node"]
result = false
[parameters]
function = "dynamic-html"
host = "functions-framework"
mode = "cold"
page_cache = "warm"
[[configurations]]
agent = "same"
use = ["first", "second"]
[schedule]
blocks = {{ min = {blocks}, max = {blocks} }}
budget = "60min"
memory = false
"""
AGAINST: dict[str, Role] = {"first": "baseline-1", "second": "baseline-2"}
"""Which baseline a configuration is compared with, by its role."""
COLUMNS = (
    "run", "language", "configuration", "starts", "disturbed", "baseline_ms",
    "difference_ms", "low_ms", "high_ms", "different", "row_different", "seconds",
)  # fmt: skip


def compare(number: int, folder: Path, blocks: int) -> list[dict[str, object]]:
    """Make one run; returns the lines of its comparisons. Raises SystemExit where it failed."""
    experiment, run = folder / "same.toml", folder / f"run-{number}"
    experiment.write_text(EXPERIMENT.format(blocks=blocks))
    begun = time.monotonic()
    command = (
        *(sys.executable, "-m", "tracetax", "run", str(experiment)),
        *("--agents-dir", str(folder / "agents"), "--seed", str(number), "--out", str(run)),
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TRACETAX_YES": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not (run / "findings.json").is_file():
        raise SystemExit(f"run {number} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    seconds = time.monotonic() - begun
    told = msgspec.json.decode((run / "findings.json").read_bytes(), type=Findings)
    judged: dict[tuple[str, str], int] = {}
    for row in told.configurations:
        found = find_measure(row, "overhead")
        if row.agent == "same" and found is not None and found.ci95 is not None:
            judged[row.part, row.configuration] = int(not found.ci95[0] <= 0 <= found.ci95[1])
    blocks_made = whole_blocks(RunFolder(run).records())
    lines: list[dict[str, object]] = []
    for cell in sorted({cell for block in blocks_made.values() for cell in block}, key=str):
        if cell.role != "configuration":
            continue
        other = cell.baseline(AGAINST[cell.use.configuration])
        own, beside = side_by_side(blocks_made, cell, other, service_mean)
        estimate = compare_paired(own, beside)
        if estimate.ci95 is None:
            raise SystemExit(f"run {number} tells nothing of {cell.label}; its folder is {run}")
        low, high = estimate.ci95
        trials = [trial for block in blocks_made.values() for trial in (block[cell], block[other])]
        lines.append(
            {
                "run": number,
                "language": cell.part.removeprefix("same-"),
                "configuration": cell.use.configuration,
                "starts": len(own),
                "disturbed": sum(bool(trial.disturbance and trial.disturbance.disturbed) for trial in trials),
                "baseline_ms": f"{beside.mean() / 1e6:.2f}",
                "difference_ms": f"{estimate.mean / 1e6:.3f}",
                "low_ms": f"{low / 1e6:.3f}",
                "high_ms": f"{high / 1e6:.3f}",
                "different": int(not low <= 0 <= high),
                "row_different": judged[cell.part, cell.use.configuration],
                "seconds": f"{seconds:.0f}",
            }
        )
    return lines


def report(lines: list[dict[str, str]]) -> bool:
    """Print how many were called different; returns whether 5 % or less lies in the interval."""
    within = True
    for column, what in (("different", "comparisons"), ("row_different", "rows")):
        found = sum(line[column] == "1" for line in lines)
        told, reached = told_share(found, len(lines))
        within &= reached
        print(f"{found} of {len(lines)} {what} {told}")
    return within


def main() -> int:
    """Make the runs that are missing; the exit status says whether 5 % is within reach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--to", type=Path, default=RESULTS)
    options = parser.parse_args()
    made = {int(line["run"]) for line in read(options.to)}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for language in ("python", "node"):
            (folder / "agents/same" / language).mkdir(parents=True)
            (folder / "agents/same" / language / "agent.toml").write_text(AGENT.format(language=language))
        for number in (number for number in range(1, options.runs + 1) if number not in made):
            lines = compare(number, folder, options.blocks)
            append(options.to, COLUMNS, lines)
            found = sum(line["different"] == 1 for line in lines)
            print(f"run {number:2}: {lines[0]['seconds']} s, {found} called different", flush=True)
    return 0 if report(read(options.to)) else 1


if __name__ == "__main__":
    sys.exit(main())
