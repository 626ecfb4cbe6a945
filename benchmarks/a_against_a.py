"""The baseline against itself, as if it were a configuration: how often is a difference found where there is none?

    PYTHONPATH=src .venv/bin/python benchmarks/a_against_a.py [--runs 50] [--campaigns 400] [--seed 1] [--to FOLDER]

First, short real runs: an agent "same" without a flag beside the two baselines, through the production session, stop
rule and findings. A line per run is appended to a-against-a.csv, its trials' values to a-against-a-trials.csv (in
docs/results, unless told otherwise); runs that are there are not made again. Then campaigns resampled from all
recorded blocks: blocks drawn with replacement, in each the three baseline trials dealt anew to C, A1 and A2, through
the production stop rule. Called different is what any of these says, each of which errs in 5 % of cases:

    by_ratio       the 95 % interval of the ratio excludes 1
    by_difference  the 95 % interval of the difference excludes 0
    by_band        the overhead lies outside the A/A band
    by_ranks       C, A1 and A2, ranked as three configurations, do not all share the first rank
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from kept import append, read
from tracetax import __version__
from tracetax.analysis.findings import build
from tracetax.artifacts import cache_dir
from tracetax.catalog import load_agents
from tracetax.kinds.calltree import TreeParameters
from tracetax.machine.facts import machine_facts
from tracetax.machine.lock import sole_run
from tracetax.model import BASELINE, Agent, Experiment, Part, Schedule, Use
from tracetax.results.blocks import paired, service_mean, whole_blocks
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import MANIFEST_VERSION, Invocation, Manifest
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.plan import Turn
from tracetax.run.prepare import hashes, prepare
from tracetax.run.session import Session
from tracetax.statistics.multiplicity import rank_with_ties
from tracetax.statistics.overhead import aa_band, differences, paired_difference, paired_log_ratio
from tracetax.statistics.stopping import BlockValues, StopRule, decide

ROOT = Path(__file__).resolve().parents[1]
SAME = Use(agent="same", configuration="same")
HEAP = 64 << 20
EXPERIMENT = Experiment(
    key="a-against-a",
    title="The baseline against itself",
    workload="calltree/java",
    parts=(
        Part(
            name="p",
            title="A/A",
            parameters=TreeParameters(calls=200_000, depth=10),
            uses=(SAME,),
            settings={"heap": HEAP, "collector": "G1"},
        ),
    ),
    schedule=Schedule(memory=False),
)
RULE = StopRule()
JUDGEMENTS = ("by_ratio", "by_difference", "by_band", "by_ranks")
RUN_COLUMNS: tuple[str, ...] = (
    "run", "seed", "blocks", "ended", "ratio", "ratio_low", "ratio_high", "difference_ns", "band_ns",
    *JUDGEMENTS, "trials", "disturbed", "seconds",
)  # fmt: skip
TRIAL_COLUMNS: tuple[str, ...] = ("run", "block", "c_ns", "a1_ns", "a2_ns")
Floats = NDArray[np.float64]
Line = dict[str, object]


class Quiet:
    """A progress that tells nobody."""

    def block(self, number: int, most: int, trials: int) -> None:
        """A block begins."""

    def trial(self, turn: Turn, seconds_left: tuple[float, float]) -> None:
        """A trial begins."""

    def state(self, text: str) -> None:
        """What the trial is doing."""

    def known(self, lines: Sequence[str]) -> None:
        """What is known after a block."""

    def done(self, record: TrialRecord, logs: str) -> None:
        """A trial has ended."""

    def note(self, text: str) -> None:
        """Something to read."""
        print(text, flush=True)


def with_same(agents: dict[str, Agent]) -> dict[str, Agent]:
    """The agents, and one called "same" that is the baseline once more."""
    none = agents[BASELINE.agent]
    same = replace(none.configurations[BASELINE.configuration], agent=SAME.agent, name=SAME.configuration)
    return agents | {SAME.agent: replace(none, key=SAME.agent, name="Same", configurations={same.name: same})}


def real_run(number: int, seed: int, place: Path) -> tuple[Line, list[Line]]:
    """Make one run; returns its line, and one for each of its blocks."""
    begun = time.monotonic()
    machine = machine_facts(place)
    agents, cache = with_same(load_agents(ROOT, "java")), cache_dir(os.environ)
    equipment = prepare(EXPERIMENT, agents, ROOT, cache, machine.isolation, lambda _: None)
    invocation = Invocation(command=("benchmarks/a_against_a.py",), started_at="", experiment=EXPERIMENT)
    manifest = Manifest(
        version=MANIFEST_VERSION,
        tool_version=__version__,
        seed=seed,
        hashes=hashes(EXPERIMENT, equipment, machine),
        machine=msgspec.to_builtins(machine),
        agents=equipment.agents,
        invocations=(invocation,),
    )
    folder = RunFolder.create(place / f"run-{number}", manifest)
    ended = Session(EXPERIMENT, equipment, folder, Quiet()).run()
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.failed_trials:
        raise SystemExit(f"Trials {ended.failed_trials} of run {number} failed.")
    records = folder.records()
    found = paired(whole_blocks(records), Cell("p", SAME, HEAP), service_mean)
    row = next(row for row in build(folder).configurations if row.agent == SAME.agent)
    shown = next(one for one in row.measures if one.name == "overhead_ratio")
    columns = found.values, found.baseline_1, found.baseline_2
    judged = judgements(*columns)
    assert shown.ci95 is not None
    assert judged["by_ratio"] == (not shown.ci95[0] <= 1 <= shown.ci95[1]), "the findings say something else"
    line: Line = {
        "run": number,
        "seed": seed,
        "blocks": len(found.blocks),
        "ended": ended.parts["p"],
        "ratio": f"{shown.estimate:.5f}",
        "ratio_low": f"{shown.ci95[0]:.5f}",
        "ratio_high": f"{shown.ci95[1]:.5f}",
        "difference_ns": f"{paired_difference(*columns).mean:.3f}",
        "band_ns": f"{aa_band(*columns[1:]).difference:.3f}",
        **{name: int(different) for name, different in judged.items()},
        "trials": len(records),
        "disturbed": sum(any(one.code == "disturbed" for one in record.verdicts) for record in records),
        "seconds": f"{time.monotonic() - begun:.1f}",
    }
    blocks = zip(found.blocks, *columns, strict=True)
    shutil.rmtree(folder.path)
    return line, [
        {"run": number, "block": block, "c_ns": f"{c:.4f}", "a1_ns": f"{a1:.4f}", "a2_ns": f"{a2:.4f}"}
        for block, c, a1, a2 in blocks
    ]


def judgements(c: Floats, a1: Floats, a2: Floats) -> dict[str, bool]:
    """Which of the judgements call C different from the baselines."""
    ratio, difference = paired_log_ratio(c, a1, a2).ci95, paired_difference(c, a1, a2).ci95
    assert ratio is not None
    assert difference is not None
    return {
        "by_ratio": not ratio[0] <= 0 <= ratio[1],
        "by_difference": not difference[0] <= 0 <= difference[1],
        "by_band": abs(float(differences(c, a1, a2).mean())) > aa_band(a1, a2).difference,
        "by_ranks": set(rank_with_ties(np.column_stack((c, a1, a2))).ranks) != {1},
    }


def resampled(trials: Floats, campaigns: int, seed: int) -> tuple[list[dict[str, bool]], float]:
    """Judge campaigns drawn from recorded blocks, shape (n, 3); returns their judgements and their mean length."""
    rng = np.random.default_rng(seed)
    judged: list[dict[str, bool]] = []
    lengths: list[int] = []
    for _ in range(campaigns):
        drawn = trials[rng.integers(len(trials), size=RULE.max_blocks)]
        c, a1, a2 = rng.permuted(drawn, axis=1).T
        for blocks in range(RULE.min_blocks, RULE.max_blocks + 1):
            own = c[:blocks], a1[:blocks], a2[:blocks]
            samples = {"same": BlockValues(*own)}
            if decide(samples, RULE, blocks, RULE.max_blocks - blocks).stop:
                judged.append(judgements(*own))
                lengths.append(blocks)
                break
    return judged, float(np.mean(lengths))


def told_share(found: int, of: int) -> tuple[str, bool]:
    """How many of so many were called different, in words, and whether 5 % or less lies in the exact interval."""
    low, high = exact_interval(found, of)
    return f"called different: {found / of:.1%}, exact 95 % interval {low:.1%} to {high:.1%}", low <= 0.05


def exact_interval(found: int, of: int) -> tuple[float, float]:
    """The exact 95 % interval of a share (Clopper and Pearson 1934)."""
    inverse = special.betaincinv
    low = 0.0 if found == 0 else float(inverse(found, of - found + 1, 0.025))
    high = 1.0 if found == of else float(inverse(found + 1, of - found, 0.975))
    return low, high


def report(what: str, judged: list[dict[str, bool]]) -> bool:
    """Print how many were called different; returns whether 5 % or less lies in every interval."""
    print(f"\n{what}")
    within = True
    for name in JUDGEMENTS:
        found = sum(one[name] for one in judged)
        low, high = exact_interval(found, len(judged))
        within &= low <= 0.05
        print(
            f"  {name:13} {found:3} of {len(judged)} called different: {found / len(judged):.1%}, "
            f"exact 95 % interval {low:.1%} to {high:.1%}"
        )
    return within


def make(numbers: list[int], seed: int, runs: Path, trials: Path) -> None:
    """Make real runs, each kept as soon as it is there."""
    with sole_run(), tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            line, blocks = real_run(number, seed * 1000 + number, Path(folder))
            append(trials, TRIAL_COLUMNS, blocks)
            append(runs, RUN_COLUMNS, [line])
            said = [name for name in JUDGEMENTS if line[name]]
            print(
                f"run {number:2}: {line['blocks']} blocks, {line['ended']}, ratio {line['ratio']} "
                f"[{line['ratio_low']}, {line['ratio_high']}] {' '.join(said)}  {line['seconds']} s",
                flush=True,
            )


def main() -> int:
    """Make the runs that are missing, then resample; the exit status says whether 5 % is within reach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--campaigns", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    runs, trials = options.to / "a-against-a.csv", options.to / "a-against-a-trials.csv"
    made = {int(line["run"]) for line in read(runs)}
    missing = [number for number in range(1, options.runs + 1) if number not in made]
    if missing:
        make(missing, options.seed, runs, trials)
    lines = read(runs)
    finished = {line["run"] for line in lines}
    # of a run that was interrupted between the two files, the last try counts
    blocks = {(line["run"], line["block"]): line for line in read(trials) if line["run"] in finished}
    table = np.array([[float(line[name]) for name in TRIAL_COLUMNS[2:]] for line in blocks.values()])
    real = [{name: line[name] == "1" for name in JUDGEMENTS} for line in lines]
    lengths = sum(int(line["blocks"]) for line in lines) / len(lines)
    within = report(f"{len(real)} real runs, {lengths:.1f} blocks each", real)
    judged, length = resampled(table, options.campaigns, options.seed)
    title = f"{len(judged)} campaigns resampled from {len(table)} recorded blocks, {length:.1f} blocks each"
    return 0 if report(title, judged) and within else 1


if __name__ == "__main__":
    sys.exit(main())
