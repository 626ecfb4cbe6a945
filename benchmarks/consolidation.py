"""Time and memory from raw samples to findings and page: 25 trials of 800,000 calls, 20,000,000 samples in all.

    .venv/bin/python benchmarks/consolidation.py [--trials 25] [--calls 800000] [--rounds 5]

The samples are drawn once, quantised to the clock's 10 ns: a baseline, and three configurations with a body and a long
tail as queues and collections make it. Each round is a fresh process that does what a run does after its calls: read,
reduce, judge and keep every trial, consolidate them to Parquet, compute and write the findings; then, timed apart, what
``./tracetax report`` does with a finished run: read it, compute its findings, draw its page.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tracetax.analysis.findings import build
from tracetax.catalog import load_agents
from tracetax.kinds.calltree import TreeParameters
from tracetax.ledger import ProtocolCount, account
from tracetax.model import BASELINE, Experiment, Part, Schedule, Use
from tracetax.report.page import write_page
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.results.records import BASELINES, Cell, Moments, Role, TrialRecord
from tracetax.workloads.driver_output import collect

ROOT = Path(__file__).resolve().parents[1]
USES = (Use("kieker", "deactivated"), Use("kieker", "no-collection"), Use("kieker", "binary-tcp"))
CELLS: tuple[tuple[Use, Role], ...] = (
    *((BASELINE, role) for role in BASELINES),
    *((use, "configuration") for use in USES),
)
BODY_NS = {str(BASELINE): 65.0, "kieker deactivated": 75.0, "kieker no-collection": 950.0, "kieker binary-tcp": 1_500.0}
TICK_NS = 10


def main() -> int:
    """Draw the samples, run the rounds, print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=25)
    parser.add_argument("--calls", type=int, default=800_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--round", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.round:
        print(json.dumps(one_round(options.round, options.trials, options.calls)))
        return 0
    with tempfile.TemporaryDirectory() as place:
        rounds = [fresh_round(Path(place) / str(number), options) for number in range(options.rounds)]
    print(f"{options.trials} trials of {options.calls:,} calls: {options.trials * options.calls:,} samples")
    for name, unit in (("findings_seconds", "s"), ("findings_peak_mib", "MiB"), ("report_seconds", "s")):
        values = sorted(found[name] for found in rounds)
        shown = f"{np.median(values):,.2f} ({values[0]:,.2f}–{values[-1]:,.2f})"
        print(f"{name.replace('_', ' '):20} {shown} {unit}, median and range of {options.rounds} processes")
    return 0


def fresh_round(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    """One round in a process of its own, so that memory's peak is its own."""
    write_raw(folder, options.trials, options.calls)
    command = [sys.executable, __file__, "--round", folder, "--trials", options.trials, "--calls", options.calls]
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def one_round(folder: Path, trials: int, calls: int) -> dict[str, float]:
    """From raw samples to findings, then from the finished run to its page."""
    parameters = TreeParameters(calls=calls, depth=10)
    run = new_run(folder / "run", parameters, trials)
    begun = time.perf_counter()
    for number in range(1, trials + 1):
        keep(run, number, parameters, folder / f"raw-{number}")
    run.consolidate()
    run.write_findings(build(run))
    findings_seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begun = time.perf_counter()
    again = RunFolder(run.path)
    write_page(run.path, build(again))
    report_seconds = time.perf_counter() - begun
    return {"findings_seconds": findings_seconds, "findings_peak_mib": peak, "report_seconds": report_seconds}


def keep(run: RunFolder, number: int, parameters: TreeParameters, raw: Path) -> None:
    """What a run does with one trial's samples."""
    use, role = CELLS[(number - 1) % len(CELLS)]
    scratch = run.scratch(number)
    raw.rename(scratch / "workload")
    measured = collect(scratch, number, parameters)
    promises = use.configuration == "binary-tcp"
    records = parameters.calls * parameters.depth if promises else 0
    trees = parameters.calls if promises else 0
    count = ProtocolCount(records=records, complete_trees=trees)
    record = TrialRecord(
        number=number,
        block=1 + (number - 1) // len(CELLS),
        block_size=len(CELLS),
        cell=Cell("full", use, 1 << 30, role),
        parameters=parameters,
        attempt=1,
        status="ok",
        verdicts=(),
        command=(),
        environment={},
        started_at="2026-01-01T00:00:00",
        moments=Moments(spawned=1, first_call=2, last_call=10**9, drained=10**9),
        ledger=account(count, expected_records=records, expected_trees=trees, dropped_in_log=0),
        steady=measured.steady,
        service=measured.service,
        allocated_bytes_per_call=measured.allocated_bytes_per_call,
        clock_resolution_ns=measured.clock_resolution_ns,
    )
    run.keep_trial(record)


def new_run(path: Path, parameters: TreeParameters, trials: int) -> RunFolder:
    """An empty run folder for the trials."""
    blocks = max(2, trials // len(CELLS))
    experiment = Experiment(
        key="consolidation",
        title="Consolidation",
        workload="calltree/java",
        parts=(Part("full", "At full speed", parameters, USES, {"heap": 1 << 30, "collector": "G1"}),),
        schedule=Schedule(min_blocks=blocks, max_blocks=blocks),
    )
    agents = {key: agent for key, agent in load_agents(ROOT, "java").items() if key in ("none", "kieker")}
    invocation = Invocation(command=("./tracetax", "run"), started_at="2026-01-01T00:00:00", experiment=experiment)
    manifest = Manifest(
        version=MANIFEST_VERSION,
        tool_version="0",
        seed=1,
        hashes={},
        machine={"cores": 2},
        agents=agents,
        invocations=(invocation,),
        part_endings={"full": "max-blocks"},
    )
    return RunFolder.create(path, manifest)


def write_raw(folder: Path, trials: int, calls: int) -> None:
    """What the driver leaves of each trial."""
    noise = np.random.default_rng(1)
    for number in range(1, trials + 1):
        use, _ = CELLS[(number - 1) % len(CELLS)]
        raw = folder / f"raw-{number}"
        raw.mkdir(parents=True)
        durations(noise, BODY_NS[str(use)], calls).tofile(raw / "samples-0.i64")
        snapshot = {"monotonic_ns": 0}
        output = {
            "format": 1,
            "workload": "calltree/java",
            "files": {"samples": ["samples-0.i64"]},
            "threads": 1,
            "calls": calls,
            "invocations": calls * 10,
            "clock": {"resolution_ns": TICK_NS, "read_ns": 20},
            "snapshots": dict.fromkeys(("main", "first_call", "last_call", "drained", "collected"), snapshot),
            "caller": [{"thread": 0, "allocated_bytes": 0, "cpu_ns": 0}],
            "versions": {"java.version": "17"},
        }
        (raw / "trial.json").write_text(json.dumps(output))


def durations(noise: np.random.Generator, body_ns: float, calls: int) -> NDArray[np.int64]:
    """Durations of calls, ns: a body, one call in a thousand several times as long, one in a hundred thousand 1 ms."""
    times = body_ns * noise.lognormal(0.0, 0.12, calls)
    times += np.where(noise.random(calls) < 1e-3, noise.exponential(20 * body_ns, calls), 0.0)
    times += np.where(noise.random(calls) < 1e-5, noise.exponential(1e6, calls), 0.0)
    return (np.rint(times / TICK_NS) * TICK_NS).astype(np.int64)


if __name__ == "__main__":
    sys.exit(main())
