"""How often the 95 % intervals hold the truth: fixed numbers of blocks, and through the production stop rule.

    python benchmarks/coverage.py [--campaigns 4000] [--seed 1]

A campaign is a simulated run: blocks of one trial each of a configuration C and two baselines A1, A2. Values vary by
3 % from block to block (shared by the block), by 2 % from process to process, both log-normal, and by 1 % from
iteration to iteration, 50 per process. With *two regimes* a process is 1.7 times slower with a chance of 10 %.
Everything judged here (intervals, stop rule, label) is the production code. Columns: mean number of blocks; how often
the interval of r and of d holds the truth, with its median half-width; runs in which the configuration settled; runs
with the label *two regimes*; coverage of the ratio's interval with and without that label, and how often an interval
without it holds the ratio of the processes that are not slow.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from tracetax.statistics.intervals import Estimate, t_interval
from tracetax.statistics.overhead import differences, log_ratios
from tracetax.statistics.regimes import overhead_in_two_regimes
from tracetax.statistics.stopping import BlockValues, StopRule, decide

Floats = NDArray[np.float64]
DRIFT, PROCESS, ITERATION, ITERATIONS = 0.03, 0.02, 0.01, 50
SLOW_SHARE, SLOWER = 0.1, 1.7
RULE = StopRule(min_blocks=10, max_blocks=30, half_width_ratio=0.01, half_width_ns=2.0)


@dataclass(frozen=True)
class Scenario:
    """What is simulated: how long a baseline call takes, what C costs, and whose processes have two regimes."""

    name: str
    baseline_ns: float = 1000.0
    ratio: float = 1.05
    slow_agent: bool = False
    slow_baselines: bool = False
    process: float = PROCESS

    @property
    def log_ratio(self) -> float:
        """The true expectation of r."""
        return float(np.log(self.ratio) + (np.log(SLOWER) * SLOW_SHARE) * (self.slow_agent - self.slow_baselines))

    @property
    def difference(self) -> float:
        """The true expectation of d, ns."""
        spread = np.exp((DRIFT**2 + self.process**2) / 2)
        slower = 1 + SLOW_SHARE * (SLOWER - 1)
        agent, baseline = slower**self.slow_agent, slower**self.slow_baselines
        return float(self.baseline_ns * spread * (self.ratio * agent - baseline))

    def campaign(self, rng: np.random.Generator, blocks: int) -> Floats:
        """Return one campaign's trial values, ns, in the shape (3, blocks): C, A1, A2."""
        drift = rng.normal(0, DRIFT, blocks)
        process = rng.normal(0, self.process, (3, blocks))
        iterations = rng.normal(1, ITERATION / ITERATIONS**0.5, (3, blocks))
        slow = rng.random((3, blocks)) < SLOW_SHARE
        slow &= np.array([self.slow_agent, self.slow_baselines, self.slow_baselines])[:, None]
        level = np.array([self.ratio, 1.0, 1.0])[:, None] * self.baseline_ns
        return level * np.exp(drift + process) * iterations * np.where(slow, SLOWER, 1.0)


@dataclass(frozen=True)
class Outcome:
    """What one campaign ended with."""

    blocks: int
    ratio_holds: bool
    difference_holds: bool
    ratio_half_width: float
    difference_half_width: float
    usual_regime_holds: bool
    """Whether the interval contains the ratio of processes that are not slow."""
    labelled: bool
    status: str = "fixed"


def holds(estimate: Estimate, truth: float) -> bool:
    """Whether the interval contains the truth."""
    return estimate.ci95 is not None and estimate.ci95[0] <= truth <= estimate.ci95[1]


def outcome(scenario: Scenario, values: Floats, status: str = "fixed") -> Outcome:
    """Judge the intervals of a finished campaign."""
    c, a1, a2 = values
    r, d = t_interval(log_ratios(c, a1, a2)), t_interval(differences(c, a1, a2))
    return Outcome(
        c.size,
        holds(r, scenario.log_ratio),
        holds(d, scenario.difference),
        r.half_width or 0.0,
        d.half_width or 0.0,
        holds(r, float(np.log(scenario.ratio))),
        overhead_in_two_regimes(c, a1, a2),
        status,
    )


def fixed(scenario: Scenario, rng: np.random.Generator, campaigns: int, blocks: int) -> list[Outcome]:
    """Simulate campaigns of a number of blocks that was fixed before."""
    return [outcome(scenario, scenario.campaign(rng, blocks)) for _ in range(campaigns)]


def through_the_rule(
    scenarios: list[Scenario], rng: np.random.Generator, campaigns: int, rule: StopRule = RULE
) -> list[list[Outcome]]:
    """Simulate runs of some configurations that stop by the rule; budget for all of its blocks.

    Returns:
        For every scenario its outcome in every run.

    """
    results: list[list[Outcome]] = [[] for _ in scenarios]
    for _ in range(campaigns):
        runs = [scenario.campaign(rng, rule.max_blocks) for scenario in scenarios]
        ratios = [log_ratios(*run) for run in runs]
        absolute = [differences(*run) for run in runs]
        for blocks in range(rule.min_blocks, rule.max_blocks + 1):
            samples = {str(i): BlockValues(ratios[i][:blocks], absolute[i][:blocks]) for i in range(len(scenarios))}
            decision = decide(samples, rule, blocks, rule.max_blocks - blocks)
            if decision.stop:
                for i, (scenario, run) in enumerate(zip(scenarios, runs, strict=True)):
                    results[i].append(outcome(scenario, run[:, :blocks], decision.configurations[str(i)].status))
                break
    return results


def share(outcomes: list[Outcome], what: Callable[[Outcome], bool]) -> str:
    """Return the share of outcomes as text, ``–`` of none."""
    return f"{100 * np.mean([what(one) for one in outcomes]):.1f} %" if outcomes else "–"


def row(name: str, outcomes: list[Outcome]) -> str:
    """Return one line of the table."""
    labelled = [one for one in outcomes if one.labelled]
    unlabelled = [one for one in outcomes if not one.labelled]
    cells = (
        name,
        f"{np.mean([one.blocks for one in outcomes]):.1f}",
        share(outcomes, lambda one: one.ratio_holds),
        f"{100 * np.median([one.ratio_half_width for one in outcomes]):.2f} %",
        share(outcomes, lambda one: one.difference_holds),
        f"{np.median([one.difference_half_width for one in outcomes]):.1f} ns",
        "–" if outcomes[0].status == "fixed" else share(outcomes, lambda one: one.status == "settled"),
        share(outcomes, lambda one: one.labelled),
        share(labelled, lambda one: one.ratio_holds),
        share(unlabelled, lambda one: one.ratio_holds),
        share(unlabelled, lambda one: one.usual_regime_holds),
    )
    return "| " + " | ".join(cells) + " |"


HEADER = (
    """\
| | blocks | ratio covered | ± | difference covered | ± | settled | labelled | covered: labelled | unlabelled \
| unlabelled, usual regime |
|"""
    + " --- |" * 11
)
EVEN = Scenario("1,000 ns, +5 %")
NOISY = Scenario("1,000 ns, +5 %, process 10 %", process=0.1)
SCENARIOS = [EVEN, Scenario("70 ns, +5 %", baseline_ns=70), Scenario("70 ns × 20", baseline_ns=70, ratio=20)]
TWO_REGIMES = [
    Scenario("1,000 ns, +5 %, agent in two regimes", slow_agent=True),
    Scenario("1,000 ns, +5 %, all in two regimes", slow_agent=True, slow_baselines=True),
    Scenario("70 ns × 20, agent in two regimes", baseline_ns=70, ratio=20, slow_agent=True),
]


def table(campaigns: int, seed: int) -> Iterator[str]:
    """Yield the table's lines as they are done."""
    rng = np.random.default_rng(seed)
    yield HEADER
    for scenario in (EVEN, *TWO_REGIMES[:2]):
        for blocks in (5, 10, 20, 30):
            yield row(f"{scenario.name}, n = {blocks}", fixed(scenario, rng, campaigns, blocks))
    for scenario in (*SCENARIOS, NOISY, *TWO_REGIMES):
        yield row(f"{scenario.name}, stop rule", through_the_rule([scenario], rng, campaigns)[0])
    together = [*SCENARIOS, NOISY]
    for scenario, outcomes in zip(together, through_the_rule(together, rng, campaigns), strict=True):
        yield row(f"{scenario.name}, stop rule, one run of {len(together)}", outcomes)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Coverage of the 95 % intervals by simulation")
    parser.add_argument("--campaigns", type=int, default=4000, help="simulated runs per row")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    begun = monotonic()
    for line in table(arguments.campaigns, arguments.seed):
        print(line, flush=True)
    print(f"\n{arguments.campaigns:,} campaigns per row, seed {arguments.seed}, {monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
