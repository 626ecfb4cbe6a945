"""How often a search for the highest complete rate ends with a claim that is not true.

    python benchmarks/capacity_claim.py [--searches 3000] [--seed 1]

A simulated configuration loses a record in a trial with a probability that is known: the same at every rate, or
growing with the rate. With *set aside*, every fifth trial is disturbed by others, and one in fifty fails. Which trial
comes next (``next_step``) and what is claimed in the end (``claim``) is the production code. Columns: how often a
search ends with a claim; how often with one that is wrong, because the true loss at the rate is not below the bound;
the median of the bounds; trials of a search; how often the answer rests on the second candidate or a later one.
"""

import argparse
import random
from collections.abc import Callable
from statistics import mean, median

from msgspec import Struct

from tracetax.analysis.capacity import Claim, claim
from tracetax.model import FULL, Rate, Search
from tracetax.results.capacity import CapacityTrial, CountsAs, full_speed
from tracetax.run.capacity import next_step

FULL_SPEED = 200_000.0
SEARCH = Search()
MOST_TRIALS = 500


class Scenario(Struct, frozen=True):
    """What is simulated."""

    name: str
    loss: Callable[[float], float]
    """Probability that a trial at a rate loses a record."""
    disturbed: float = 0.0
    failing: float = 0.0


def constant(loss: float) -> Callable[[float], float]:
    """The same loss at every rate."""
    return lambda _: loss


def growing(steepness: float) -> Callable[[float], float]:
    """A loss of one half at 3,300 calls/s."""
    return lambda rate: 1 / (1 + (rate / 3_300.0) ** -steepness)


SCENARIOS = (
    *(Scenario(f"{loss:.0%} at every rate", constant(loss)) for loss in (0.3, 0.4, 0.46, 0.5, 0.6, 0.7, 0.8)),
    Scenario("from 5 to 95 % within × 1.35", growing(20)),
    Scenario("from 5 to 95 % within × 4.4", growing(4)),
    Scenario("from 5 to 95 % within × 19", growing(2)),
    *(
        Scenario(f"{loss:.0%} at every rate, set aside", constant(loss), disturbed=0.2, failing=0.02)
        for loss in (0.46, 0.5, 0.6, 0.7)
    ),
)


def searched(scenario: Scenario, draw: random.Random) -> list[CapacityTrial]:
    """The trials of one search."""
    trials: list[CapacityTrial] = []
    set_aside: set[Rate] = set()
    while (rate := next_step(trials, SEARCH).rate) is not None:
        assert len(trials) < MOST_TRIALS
        calls = FULL_SPEED if rate == FULL else float(rate)
        counts: CountsAs = "incomplete" if draw.random() < scenario.loss(calls) else "complete"
        if draw.random() < scenario.failing:
            counts = "failed"
        elif counts == "incomplete" and rate not in set_aside and draw.random() < scenario.disturbed:
            counts = "disturbed"
            set_aside.add(rate)
        received = {"complete": 1_000, "failed": 0}.get(counts, 100)
        trials.append(CapacityTrial(len(trials) + 1, rate, calls, counts, 1_000, received, 0))
    return trials


def conclusion(scenario: Scenario, trials: list[CapacityTrial]) -> tuple[Claim | None, bool]:
    """What a search claims, and whether that is wrong; a search that found no rate claims nothing."""
    claimed = claim(trials, SEARCH)
    if claimed is None or not claimed.confirmed:
        return None, False
    at_full = full_speed(trials)
    whole = bool(at_full) and all(trial.counts == "complete" for trial in at_full)
    rate = FULL_SPEED if whole else float(claimed.rate)
    return claimed, scenario.loss(rate) >= claimed.loss_at_most


def main() -> None:
    """Print a row for each scenario."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--searches", type=int, default=3_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    print("| loss of a trial | claims | wrong claims | bound, median | trials | later candidate |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for scenario in SCENARIOS:
        draw = random.Random(f"{given.seed}/{scenario.name}")
        every = [searched(scenario, draw) for _ in range(given.searches)]
        ends = [conclusion(scenario, trials) for trials in every]
        claims = [claimed for claimed, _ in ends if claimed]
        share = [len(claims) / len(ends), sum(wrong for _, wrong in ends) / len(ends)]
        bound = f"{median(claimed.loss_at_most for claimed in claims):.0%}" if claims else "–"
        later = f"{mean(claimed.candidate > 1 for claimed in claims):.0%}" if claims else "–"
        cells = (scenario.name, f"{share[0]:.1%}", f"{share[1]:.1%}", bound, f"{mean(map(len, every)):.1f}", later)
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
