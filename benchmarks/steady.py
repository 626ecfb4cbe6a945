"""How often the steady part of a trial is judged right, on simulated series and on those of stored runs.

    PYTHONPATH=src python benchmarks/steady.py [RUN ...] [--before OLD_SRC] [--series 200] [--csv FILE]

Simulated series have 1,000 bins around 1. Those that keep their level should be *flat*; a warm-up should be found and
end before the last quarter; a late step should leave *no steady state*; a slow-down or a drift should not be *flat* nor
a *warm-up*. The noise of a stored run is made of its trials: each cut into pieces of 50 bins, drawn at random, so that
neighbouring bins depend on each other as they did while a warm-up is spread over all. Of a stored run also: the spread
of a trial's value over the starts of a configuration, as standard deviation of logarithms. ``--before`` judges the same
series by the code under another clone's ``src``, in the column *before*.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tracetax.results.folder import RunFolder
from tracetax.statistics.steady import steady_part

Floats = NDArray[np.float64]
Noise = Callable[[np.random.Generator], Floats]
BINS = 1_000
PLACES = np.arange(BINS)
PIECE = 50
WITH_STORED = ("1.5 × for 15 %", "+ 20 % at 85 %", "+ 50 % at 85 %")
"""Profiles that the noise of stored runs is multiplied with, too."""
KINDS = ("flat", "warm-up", "slow-down", "no-steady-state")
RIGHT = {
    "flat": ("flat",),
    "warm-up": ("warm-up",),
    "late step": ("no-steady-state",),
    "slow-down": ("slow-down", "no-steady-state"),
}


@dataclass(frozen=True)
class Scenario:
    """A noise, and the profile over the trial that it is multiplied with."""

    group: str
    """Key of ``RIGHT``: what should be found."""
    name: str
    noise: Noise
    profile: Floats


@dataclass(frozen=True)
class Trial:
    """A finished trial of a stored run: which row it belongs to and the means of its bins, ns."""

    row: str
    bins: Floats


def main() -> None:
    """Judge all series, and print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="*")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    found = judged(asked.runs, asked.series)
    if asked.json:
        json.dump(found, sys.stdout)
        return
    columns = {"after": found}
    if asked.before:
        command = [sys.executable, __file__, "--json", "--series", str(asked.series), *map(str, asked.runs)]
        environment = {**os.environ, "PYTHONPATH": str(asked.before)}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        columns = {"before": json.loads(done.stdout), "after": found}
    simulated = [
        [group, name, *(shares(column["series"][key]) for column in columns.values())]
        for key, (group, name) in found["names"].items()
    ]
    table(["should be", "series", *(f"{name}: right / no steady state" for name in columns)], simulated)
    stored = [
        [row, *(spread(column["rows"][row]) for column in columns.values()), *others(found["rows"][row])]
        for row in found["rows"]
    ]
    if stored:
        table(["configuration", *(f"{name}: kinds, spread" for name in columns), "all calls", "last half"], stored)
    for name, column in columns.items():
        print(f"{name}: {column['milliseconds']:.1f} ms per series")
    if asked.csv:
        with asked.csv.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["group", "series", "code", *KINDS])
            for key, (group, name) in found["names"].items():
                for code, column in columns.items():
                    kinds = column["series"][key]["kinds"]
                    writer.writerow([group, name, code, *(kinds.get(kind, 0) for kind in KINDS)])


def judged(runs: list[Path], count: int) -> dict[str, Any]:
    """Kinds of all simulated series by scenario, kinds and values of all stored trials by row, and the time it took."""
    trials = [trial for run in runs for trial in stored_trials(run)]
    found: dict[str, Any] = {"names": {}, "series": {}, "rows": {}}
    seconds = 0.0
    for number, scenario in enumerate(scenarios(trials)):
        kinds: Counter[str] = Counter()
        for seed in range(count):
            series = scenario.noise(np.random.default_rng([seed, number])) * scenario.profile
            began = perf_counter()
            kinds[steady_part(series).kind] += 1
            seconds += perf_counter() - began
        found["names"][str(number)] = scenario.group, scenario.name
        found["series"][str(number)] = {"kinds": kinds, "right": sum(kinds[kind] for kind in RIGHT[scenario.group])}
    found["milliseconds"] = seconds * 1e3 / max(1, count * len(found["names"]))
    rows: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        rows[trial.row].append(trial)
    for row, mine in rows.items():
        steady = [steady_part(trial.bins) for trial in mine]
        found["rows"][row] = {
            "kinds": Counter(part.kind for part in steady),
            "values": [float(trial.bins[part.first_bin :].mean()) for trial, part in zip(mine, steady, strict=True)],
            "all": [float(trial.bins.mean()) for trial in mine],
            "half": [float(trial.bins[trial.bins.size // 2 :].mean()) for trial in mine],
        }
    return found


def scenarios(trials: list[Trial]) -> Iterator[Scenario]:
    """What is simulated; with stored trials also their noise."""
    steady: dict[str, Noise] = {
        "white, 3 %": white,
        "AR(0.5), 20 %": autoregressive(0.5, 0.2),
        "AR(0.8), 20 %": autoregressive(0.8, 0.2),
        "AR(0.9), 20 %": autoregressive(0.9, 0.2),
        "AR(0.95), 20 %": autoregressive(0.95, 0.2),
        "AR(0.98), 20 %": autoregressive(0.98, 0.2),
        "AR(0.95), logarithms 40 %": lambda rng: np.exp(autoregressive(0.95, 0.4)(rng) - 1),
        "queue on and off, 10 and 10 bins": on_and_off(10, 10),
        "queue on and off, 30 and 30 bins": on_and_off(30, 30),
        "queue on and off, 10 and 40 bins": on_and_off(10, 40),
        "queue on and off, 40 and 10 bins": on_and_off(40, 10),
        "pauses × 5 in 1 of 30 bins": pauses,
        "one stall × 3, 30 bins": stall,
    }
    noises = {name: steady[name] for name in ("white, 3 %", "pauses × 5 in 1 of 30 bins")}
    noises |= {f"AR({phi}), 10 %": autoregressive(phi, 0.1) for phi in (0.8, 0.95)}
    stored = {
        f"noise of {row}": pieces([trial.bins for trial in trials if trial.row == row])
        for row in sorted({trial.row for trial in trials})
    }
    profiles = {
        ("warm-up", "2 × at first, decays over 60 bins"): 1 + np.exp(-PLACES / 60),
        ("warm-up", "3 × at first, decays over 10 bins"): 1 + 2 * np.exp(-PLACES / 10),
        ("warm-up", "1.5 × for 15 %"): step(0.15, 1.5, 1),
        ("warm-up", "1.15 × for 40 %"): step(0.4, 1.15, 1),
        ("late step", "+ 20 % at 85 %"): step(0.85, 1, 1.2),
        ("late step", "+ 50 % at 85 %"): step(0.85, 1, 1.5),
        ("late step", "+ 50 % at 93 %"): step(0.93, 1, 1.5),
        ("slow-down", "+ 20 % at 40 %"): step(0.4, 1, 1.2),
        ("slow-down", "drift of + 50 %"): 1 + 0.5 * PLACES / BINS,
    }
    for name, noise in (steady | stored).items():
        yield Scenario("flat", name, noise, np.ones(BINS))
    for (group, profile), shape in profiles.items():
        for name, noise in (noises | stored if profile in WITH_STORED else noises).items():
            yield Scenario(group, f"{profile}; {name}", noise, shape)


def step(share: float, before: float, after: float) -> Floats:
    """A profile with one step."""
    return np.where(share * BINS > PLACES, before, after)


def white(rng: np.random.Generator) -> Floats:
    """Independent bins."""
    return rng.normal(1, 0.03, BINS)


def autoregressive(phi: float, deviation: float) -> Noise:
    """Bins of which each takes ``phi`` of the distance of the one before; never below 0.05."""

    def noise(rng: np.random.Generator) -> Floats:
        shocks = rng.normal(0, deviation * np.sqrt(1 - phi**2), BINS)
        values = np.empty(BINS)
        value = rng.normal(0, deviation)
        for place, shock in enumerate(shocks):
            value = phi * value + shock
            values[place] = 1 + value
        return np.maximum(values, 0.05)

    return noise


def on_and_off(on: float, off: float) -> Noise:
    """A queue that is full for ``on`` bins in the mean, 3 × then, and not for ``off``."""

    def noise(rng: np.random.Generator) -> Floats:
        full = bool(rng.random() < on / (on + off))
        levels: list[float] = []
        while len(levels) < BINS:
            levels += [3.0 if full else 1.0] * int(1 + rng.geometric(1 / (on if full else off)))
            full = not full
        return np.array(levels[:BINS]) * white(rng)

    return noise


def pauses(rng: np.random.Generator) -> Floats:
    """Pauses of five times a bin's length, here and there."""
    return white(rng) * np.where(rng.random(BINS) < 1 / 30, 5, 1)


def stall(rng: np.random.Generator) -> Floats:
    """One stall."""
    begin = rng.integers(100, 950)
    return white(rng) * np.where((begin <= PLACES) & (begin + 30 > PLACES), 3, 1)


def pieces(trials: list[Floats]) -> Noise:
    """Stored bins, one trial at a time, in pieces drawn at random."""

    def noise(rng: np.random.Generator) -> Floats:
        bins = trials[int(rng.integers(len(trials)))]
        starts = rng.integers(0, bins.size - PIECE + 1, BINS // PIECE)
        return np.concatenate([bins[start : start + PIECE] for start in starts]) / bins.mean()

    return noise


def stored_trials(run: Path) -> Iterator[Trial]:
    """The good trials of a run that have as many bins as a simulated one, memory trials left out."""
    for record in RunFolder(run).records():
        if record.status != "ok" or record.cell.role == "memory":
            continue
        folder = run / "trials" / f"{record.number:04d}"
        bins = (
            pl.read_parquet(folder / "series.parquet")
            .filter(pl.col("kind") == "service")
            .group_by("bin")
            .agg((pl.col("mean") * pl.col("count")).sum() / pl.col("count").sum())
            .sort("bin")["mean"]
            .to_numpy()
        )
        if bins.size == BINS:
            use = record.cell.use
            yield Trial(f"{record.cell.part}: {use.agent} {use.configuration}", bins)


def shares(result: dict[str, Any]) -> str:
    """Share judged right, and share without a steady state."""
    kinds = result["kinds"]
    count = sum(kinds.values())
    return f"{result['right'] / count:.1%} / {kinds.get('no-steady-state', 0) / count:.1%}"


def spread(result: dict[str, Any]) -> str:
    """How many trials of which kind, and the spread of their values."""
    kinds = ", ".join(f"{result['kinds'][kind]} {kind}" for kind in KINDS if kind in result["kinds"])
    return f"{kinds}: {deviation(result['values'])}"


def others(result: dict[str, Any]) -> list[str]:
    """The spread of the means of all calls, and of the last half."""
    return [deviation(result["all"]), deviation(result["half"])]


def deviation(values: list[float]) -> str:
    """Standard deviation of logarithms."""
    return f"{np.std(np.log(values), ddof=1):.3f}" if len(values) > 1 else "–"


def table(headings: list[str], lines: list[list[str]]) -> None:
    """A table in Markdown."""
    print(f"| {' | '.join(headings)} |\n|{' --- |' * len(headings)}")
    for line in lines:
        print(f"| {' | '.join(line)} |")
    print()


if __name__ == "__main__":
    main()
