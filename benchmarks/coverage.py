"""How often the 95 % intervals hold the truth: fixed numbers of blocks, and through the production stop rule.

    python benchmarks/coverage.py [--campaigns 4000] [--seed 1] [--out docs/results]

A campaign is a simulated run of one configuration C with two baselines A1, A2: blocks that drift by 3 %, which a
block's starts share, and starts that differ by a noise of their own. In *regimes* a share of starts is slower. What is
judged (intervals, regimes, stop rule with its further starts) is the production code. True is the mean over all starts,
slow ones in their share: of the log ratio r, and of the difference d.

Columns: mean number of blocks and of starts outside them; how often the interval of r and of d holds the truth, with
r's median half-width; runs labelled *two regimes*; coverage of r with and without that label; and the bound
1 − (1 − p)^N: no interval that is narrow where no slow start was met can cover more, N starts being made of each side
that has slow ones. ``--out`` writes coverage.md and coverage.csv.
"""

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tracetax.schedule import ENOUGH_STARTS
from tracetax.statistics.intervals import Estimate
from tracetax.statistics.overhead import judged_overhead, overhead_regimes
from tracetax.statistics.regimes import Starts
from tracetax.statistics.stopping import MOST_WITH_REGIMES, BlockValues, StopRule, decide

Floats = NDArray[np.float64]
Noise = Literal["normal", "t3", "exponential"]
DRIFT = 0.03
BASELINE_NS, RATIO = 1_000.0, 1.05
RULE = StopRule(min_blocks=10, max_blocks=30, half_width_ratio=0.01, half_width_ns=2.0, starts=ENOUGH_STARTS)
WITHOUT_STARTS = StopRule(min_blocks=10, max_blocks=30, half_width_ratio=0.01, half_width_ns=2.0)
MOST_FURTHER = ENOUGH_STARTS


@dataclass(frozen=True)
class Scenario:
    """What is simulated: how starts vary, and which of them are sometimes slow."""

    name: str
    sd: float
    """Of the logarithm of a start's value."""
    noise: Noise = "normal"
    slow_share: float = 0.0
    slower: float = 1.7
    agent: bool = True
    """Whether the configuration's starts are slow sometimes; else they never are."""
    baselines: bool = False

    def noises(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Return deviations of logarithms, mean 0."""
        if self.noise == "t3":
            return self.sd / 3**0.5 * rng.standard_t(3, shape)
        if self.noise == "exponential":
            return self.sd * (rng.exponential(1.0, shape) - 1)
        return rng.normal(0, self.sd, shape)

    @property
    def log_ratio(self) -> float:
        """The true expectation of r."""
        slow = np.log(self.slower) * self.slow_share
        return float(np.log(RATIO) + slow * (self.agent - self.baselines))

    def difference(self, rng: np.random.Generator) -> float:
        """The true expectation of d, ns; where e to the noise has no closed mean, from many draws.

        Of t with 3 degrees e to the noise has no mean at all: then d has no truth, NaN.
        """
        if self.noise == "t3":
            return float("nan")
        spread = float(np.exp(self.noises(rng, (4_000_000,))).mean()) if self.noise != "normal" else 0.0
        spread = (spread or float(np.exp(self.sd**2 / 2))) * float(np.exp(DRIFT**2 / 2))
        slower = 1 + self.slow_share * (self.slower - 1)
        return float(BASELINE_NS * spread * (RATIO * slower**self.agent - slower**self.baselines))

    def campaign(self, rng: np.random.Generator, blocks: int) -> Floats:
        """Return one campaign's values, ns, in the shape (3, blocks): C, A1, A2."""
        values = np.exp(rng.normal(0, DRIFT, blocks) + self.noises(rng, (3, blocks)))
        slow = rng.random((3, blocks)) < self.slow_share
        slow &= np.array([self.agent, self.baselines, self.baselines])[:, None]
        level = np.array([RATIO, 1.0, 1.0])[:, None] * BASELINE_NS
        return level * values * np.where(slow, self.slower, 1.0)

    def alone(self, rng: np.random.Generator, starts: int) -> Floats:
        """Return starts outside blocks, ns, in the shape (2, starts): of C and the baseline; each drifts by itself."""
        values = np.exp(rng.normal(0, DRIFT, (2, starts)) + self.noises(rng, (2, starts)))
        slow = (rng.random((2, starts)) < self.slow_share) & np.array([self.agent, self.baselines])[:, None]
        return np.array([RATIO, 1.0])[:, None] * BASELINE_NS * values * np.where(slow, self.slower, 1.0)


@dataclass(frozen=True)
class Outcome:
    """What one campaign ended with."""

    blocks: int
    further: int
    """Starts outside the blocks, of configuration and baseline."""
    ratio_holds: bool
    difference_holds: bool
    half_width: float
    """Of r."""
    labelled: bool
    settled: bool = False


def holds(estimate: Estimate, truth: float) -> bool:
    """Whether the interval contains the truth."""
    return estimate.ci95 is not None and estimate.ci95[0] <= truth <= estimate.ci95[1]


def outcome(truth: tuple[float, float], values: Floats, further: Starts, settled: bool = False) -> Outcome:
    """Judge the intervals of a finished campaign; ``truth`` is that of r and of d."""
    c, a1, a2 = values
    judged = judged_overhead(c, a1, a2, further)
    return Outcome(
        values.shape[1],
        len(further.own) + len(further.baseline),
        holds(judged.log_ratio, truth[0]),
        holds(judged.difference, truth[1]),
        judged.log_ratio.half_width or 0.0,
        judged.regimes.two,
        settled,
    )


def fixed(scenario: Scenario, rng: np.random.Generator, campaigns: int, blocks: int) -> list[Outcome]:
    """Simulate campaigns of a number of blocks that was fixed before."""
    truth = scenario.log_ratio, scenario.difference(rng)
    return [outcome(truth, scenario.campaign(rng, blocks), Starts()) for _ in range(campaigns)]


def through_the_rule(
    scenario: Scenario, rng: np.random.Generator, campaigns: int, rule: StopRule = RULE
) -> list[Outcome]:
    """Simulate runs that stop by the rule, with budget for whatever it asks."""
    truth = scenario.log_ratio, scenario.difference(rng)
    return [_run(scenario, truth, rng, rule) for _ in range(campaigns)]


def _run(scenario: Scenario, truth: tuple[float, float], rng: np.random.Generator, rule: StopRule) -> Outcome:
    most = max(MOST_WITH_REGIMES, rule.max_blocks)
    values, alone = scenario.campaign(rng, most), scenario.alone(rng, MOST_FURTHER)
    blocks, further = rule.min_blocks, Starts()
    while True:
        sample = BlockValues(values[0, :blocks], values[1, :blocks], values[2, :blocks], None, further)
        progress = decide({"c": sample}, rule, blocks, most).configurations["c"]
        if progress.wants_block:
            blocks += 1
        elif progress.starts_wanted or progress.baseline_starts_wanted:
            own = len(further.own) + progress.starts_wanted
            baseline = len(further.baseline) + progress.baseline_starts_wanted
            further = Starts(tuple(alone[0, :own].tolist()), tuple(alone[1, :baseline].tolist()))
        else:
            return outcome(truth, values[:, :blocks], further, progress.status == "settled")


def bound(scenario: Scenario, outcomes: list[Outcome], starts: Callable[[Outcome], int]) -> float | None:
    """The most that an interval covers which is narrow where no slow start was met, mean over campaigns."""
    if not scenario.slow_share:
        return None
    return float(np.mean([1 - (1 - scenario.slow_share) ** starts(one) for one in outcomes]))


def share(outcomes: list[Outcome], what: Callable[[Outcome], bool]) -> float | None:
    """The share of outcomes; None of none."""
    return float(np.mean([what(one) for one in outcomes])) if outcomes else None


COLUMNS = (
    "starts", "how", "blocks", "further starts", "r covered", "r half-width", "d covered", "settled", "labelled",
    "r covered: labelled", "r covered: unlabelled", "bound",
)  # fmt: skip
SHARES = COLUMNS[4:]


def figures(scenario: Scenario, how: str, outcomes: list[Outcome], least_starts: int) -> dict[str, float | str | None]:
    """One row of the table; shares as numbers from 0 to 1. ``least_starts`` are made of each side in any case."""
    labelled = [one for one in outcomes if one.labelled]
    unlabelled = [one for one in outcomes if not one.labelled]
    both = 2 if scenario.baselines and not scenario.agent else 1

    def starts(one: Outcome) -> int:
        return max(one.blocks * both, least_starts)

    has_mean = scenario.noise != "t3"
    cells = (
        *(scenario.name, how, float(np.mean([one.blocks for one in outcomes]))),
        float(np.mean([one.further for one in outcomes])),
        share(outcomes, lambda one: one.ratio_holds),
        float(np.median([one.half_width for one in outcomes])),
        share(outcomes, lambda one: one.difference_holds) if has_mean else None,
        None if how.startswith("fixed") else share(outcomes, lambda one: one.settled),
        share(outcomes, lambda one: one.labelled),
        share(labelled, lambda one: one.ratio_holds),
        share(unlabelled, lambda one: one.ratio_holds),
        bound(scenario, outcomes, starts),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def words(row: dict[str, float | str | None]) -> str:
    """A row as a line of Markdown."""

    def cell(name: str) -> str:
        value = row[name]
        if value is None or isinstance(value, str):
            return value or "–"
        digits = 2 if name == "r half-width" else 1
        return f"{100 * value:.{digits}f} %" if name in SHARES else f"{value:.1f}"

    return "| " + " | ".join(cell(name) for name in COLUMNS) + " |"


HEADER = "| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS)
QUIET = Scenario("normal, 2 %", 0.02)
REGIMES = Scenario("10 % of the agent's starts × 1.7, else 1 %", 0.01, slow_share=0.1)
SCENARIOS = (
    Scenario("normal, 1 %", 0.01),
    QUIET,
    Scenario("normal, 5 %", 0.05),
    Scenario("normal, 10 %", 0.10),
    Scenario("t with 3 degrees of freedom, 2 %", 0.02, "t3"),
    Scenario("exponential tail, 2 %", 0.02, "exponential"),
    REGIMES,
    Scenario("10 % of the agent's starts × 1.7, else 2 %", 0.02, slow_share=0.1),
    Scenario("10 % of the agent's starts × 1.7, else 5 %", 0.05, slow_share=0.1),
    Scenario("5 % of the agent's starts × 1.7, else 2 %", 0.02, slow_share=0.05),
    Scenario("30 % of the agent's starts × 1.15, else 1 %", 0.01, slow_share=0.3, slower=1.15),
    Scenario("10 % of the baselines' starts × 1.7, else 2 %", 0.02, slow_share=0.1, agent=False, baselines=True),
    Scenario("10 % of all starts × 1.7, else 2 %", 0.02, slow_share=0.1, baselines=True),
)


def table(campaigns: int, seed: int) -> Iterator[dict[str, float | str | None]]:
    """Yield the table's rows as they are done."""
    for place, scenario in enumerate(SCENARIOS):
        rng = np.random.default_rng((seed, place))
        for blocks in (5, 10):
            yield figures(scenario, f"fixed {blocks}", fixed(scenario, rng, campaigns, blocks), 0)
        plain = through_the_rule(scenario, rng, campaigns, WITHOUT_STARTS)
        yield figures(scenario, "rule without further starts", plain, 0)
        yield figures(scenario, "rule", through_the_rule(scenario, rng, campaigns), ENOUGH_STARTS)


def label_errors(campaigns: int, seed: int) -> Iterator[str]:
    """Yield lines of Markdown: how often starts of one regime are labelled, and those of two are."""
    rng = np.random.default_rng(seed)
    counts = (5, 10, 20, 30)
    yield "| starts | judged by | " + " | ".join(f"{n} blocks" for n in counts) + " |\n|" + " --- |" * (2 + len(counts))
    for scenario in SCENARIOS:
        found = {n: [overhead_regimes(*scenario.campaign(rng, n)) for _ in range(campaigns)] for n in counts}
        for by in ("own", "baseline", "paired", "two"):
            shares = [
                float(np.mean([one.two if by == "two" else getattr(one, by).two for one in found[n]])) for n in counts
            ]
            named = {"own": "the configuration", "baseline": "the baselines", "paired": "the paired ratio"}
            yield (
                f"| {scenario.name} | {named.get(by, 'any: the label')} | "
                + " | ".join(f"{100 * one:.1f} %" for one in shares)
                + " |"
            )


def main() -> None:
    """Print the tables, and keep them where that is asked."""
    parser = argparse.ArgumentParser(description="Coverage of the 95 % intervals by simulation")
    parser.add_argument("--campaigns", type=int, default=4000, help="simulated runs per row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for coverage.md and coverage.csv")
    arguments = parser.parse_args()
    begun = monotonic()
    print(HEADER)
    rows: list[dict[str, float | str | None]] = []
    for row in table(arguments.campaigns, arguments.seed):
        rows.append(row)
        print(words(row), flush=True)
    print()
    labels = list(label_errors(arguments.campaigns, arguments.seed))
    print("\n".join(labels))
    print(f"\n{arguments.campaigns:,} campaigns per row, seed {arguments.seed}, {monotonic() - begun:.0f} s")
    if arguments.out:
        keep(arguments.out, rows, labels, f"{arguments.campaigns:,} campaigns per row, seed {arguments.seed}")


def keep(folder: Path, rows: list[dict[str, float | str | None]], labels: list[str], how: str) -> None:
    """Write the tables as Markdown and the first as CSV."""
    lines = [
        "# How often the 95 % intervals hold the truth", "",
        f"`PYTHONPATH=src python benchmarks/coverage.py --out docs/results`: {how}. Simulated; what is simulated, and "
        "what the columns mean, is said at the top of that file, what follows in [statistics.md](../statistics.md).",
        "", HEADER, *(words(row) for row in rows), "",
        "## How often starts are labelled *two regimes*", "",
        "Of one regime (normal, heavy and skewed noise) every label is an error; of two, every missing one.", "",
        *labels,
    ]  # fmt: skip
    (folder / "coverage.md").write_text("\n".join(lines) + "\n")
    with (folder / "coverage.csv").open("w", newline="") as file:
        columns: list[str] = list(COLUMNS)
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
