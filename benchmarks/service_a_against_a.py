"""A service against itself, as if it had an agent: how often is a difference found where there is none?

    PYTHONPATH=src .venv/bin/python benchmarks/service_a_against_a.py
        [--comparisons 40] [--blocks 6] [--rate 1000] [--requests 2000] [--to FILE]

Each comparison is a `./tracetax run --service` of its own: the HTTP service in Go, answering /json without a database,
beside an agent that is nothing but the same program once more. A line is appended to
docs/results/service-a-against-a.csv as each has ended; comparisons that are there are not made again. Called different
is what a 95 % interval says that excludes no difference, of the mean response time, its median, its p99, and the CPU of
a request. Of 40 comparisons 2 are expected; the exact interval of the share must reach down to 5 %.
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
from tracetax.results.findings import Findings, MeasureName, find_measure

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/results/service-a-against-a.csv"
PROGRAM = ROOT / "workloads/requests/go"
AGENT = """
name = "Same"
homepage = "https://example.org"
licence = "MIT"
language = "go"
kinds = ["requests"]
version = "1"
runtime = { min = 26, tested = [26] }
instrumentation = "none"
[common]
record_name = "*"
[configurations.same]
title = "the same once more"
layers = ["I"]
delivery = "none"
"""
JUDGED: dict[str, tuple[MeasureName, float]] = {
    "mean": ("overhead", 0.0),
    "median": ("response_time_median_added", 0.0),
    "p99": ("response_time_p99_added", 0.0),
    "cpu": ("cpu_ratio", 1.0),
}
"""What is judged: the measure, and what it is where there is no difference."""
COLUMNS = (
    "comparison", "blocks", "seconds", "disturbed",
    *(f"{name}{end}" for name in JUDGED for end in ("", "_low", "_high", "_different")),
)  # fmt: skip


def compare(number: int, service: Path, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    """Make one comparison; returns its line. Raises SystemExit where the run failed."""
    run = folder / f"run-{number}"
    begun = time.monotonic()
    command = (
        *(sys.executable, "-m", "tracetax", "run", "--agents-dir", str(folder / "agents")),
        *("--service", str(service), "--service-with", f"same={service}", "--language", "go"),
        *("--url", "http://127.0.0.1:8917/json", "--agent", "same", "--configuration", "same"),
        *("--rate", f"{options.rate}/s", "--calls", str(options.requests), "--blocks", str(options.blocks)),
        *("--seed", str(number), "--out", str(run)),
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "LISTEN": "127.0.0.1:8917",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",  # /json asks nothing of it
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not (run / "findings.json").is_file():
        raise SystemExit(f"comparison {number} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    findings = msgspec.json.decode((run / "findings.json").read_bytes(), type=Findings)
    row = next(row for row in findings.configurations if row.agent == "same")
    line: dict[str, object] = {
        "comparison": number,
        "blocks": row.records.blocks,
        "seconds": f"{time.monotonic() - begun:.1f}",
        "disturbed": sum(verdict.code == "disturbed" for verdict in row.verdicts),
    }
    for name, (measure, nothing) in JUDGED.items():
        found = find_measure(row, measure)
        if found is None or found.ci95 is None:
            raise SystemExit(f"comparison {number} tells no {measure}; its folder is {run}")
        low, high = found.ci95
        values = {"": found.estimate, "_low": low, "_high": high, "_different": int(not low <= nothing <= high)}
        line |= {name + end: f"{value:.6g}" for end, value in values.items()}
    return line


def report(lines: list[dict[str, str]]) -> bool:
    """Print how many were called different; returns whether 5 % or less lies in every interval."""
    within = True
    print(f"\n{len(lines)} comparisons of {lines[0]['blocks']} blocks")
    for name in JUDGED:
        found = sum(line[f"{name}_different"] == "1" for line in lines)
        told, reached = told_share(found, len(lines))
        within &= reached
        print(f"  {name:7} {found:3} of {len(lines)} {told}")
    return within


def main() -> int:
    """Make the comparisons that are missing; the exit status says whether 5 % is within reach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comparisons", type=int, default=40)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--to", type=Path, default=RESULTS)
    options = parser.parse_args()
    made = {int(line["comparison"]) for line in read(options.to)}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "agents/same/go").mkdir(parents=True)
        (folder / "agents/same/go/agent.toml").write_text(AGENT)
        service = folder / "service"
        build = ("go", "build", "-buildvcs=false", "-o", str(service), "./cmd/service")
        subprocess.run(build, cwd=PROGRAM, check=True)
        for number in (number for number in range(1, options.comparisons + 1) if number not in made):
            line = compare(number, service, folder, options)
            append(options.to, COLUMNS, [line])
            said = [name for name in JUDGED if line[f"{name}_different"] == "1"]
            print(f"comparison {number:2}: {line['seconds']} s  {' '.join(said)}", flush=True)
    return 0 if report(read(options.to)) else 1


if __name__ == "__main__":
    sys.exit(main())
