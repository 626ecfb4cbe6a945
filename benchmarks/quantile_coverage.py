"""How often do intervals of what an agent adds to a percentile hold, by requests of a start? Simulated.

    PYTHONPATH=src .venv/bin/python benchmarks/quantile_coverage.py [--campaigns 4000] [--seed 1]

A start's response times have a log-normal body and a Pareto tail (index 2.5). Starts differ by a factor, blocks by
another that their three starts share. The agent makes every request slower and the tail heavier. What it adds to a
percentile is told as the production code does: the start's own percentile, less the mean of the two baselines', with
Student's interval over blocks. It holds where it contains the difference of the true percentiles, which no campaign
has seen. The percentile of n draws is drawn itself, by its place among them (a beta variable).
"""

import argparse

import numpy as np
from scipy.special import ndtri  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from tracetax.statistics.intervals import Floats, t_critical
from tracetax.statistics.overhead import differences

MS = 1e6
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
BEYOND = (2, 5, 10, 20, 100)
"""Requests of a start that lie beyond the percentile, on the average."""
BLOCKS = (3, 5, 10, 30)
BETWEEN_STARTS, BETWEEN_BLOCKS = 0.05, 0.10
"""Standard deviations of the logarithm of a start's factor, and of a block's."""


def response_time(share: Floats, *, traced: bool) -> Floats:
    """The time, ns, below which a share of the requests of a start lies."""
    body = np.exp(0.3 * np.asarray(ndtri(share)))
    tail = (1 - share) ** -0.4 - 1
    return MS * (1.15 * body + 0.15 + 0.30 * tail) if traced else MS * (body + 0.20 * tail)


def held(
    share: float, beyond: int, blocks: int, campaigns: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Of so many campaigns: the share that holds, the mean half-width and the mean error, both ÷ what is added."""
    requests = max(beyond + 1, round(beyond / (1 - share)))
    place = requests * share
    shape = (3, campaigns, blocks)
    found = rng.beta(place + 0.5, requests - place + 0.5, shape)
    factor = np.exp(rng.normal(0, BETWEEN_STARTS, shape) + rng.normal(0, BETWEEN_BLOCKS, shape[1:]))
    factor /= np.exp((BETWEEN_STARTS**2 + BETWEEN_BLOCKS**2) / 2)
    times = factor * np.stack([response_time(own, traced=number == 0) for number, own in enumerate(found)])
    added = differences(*(own.ravel() for own in times)).reshape(shape[1:])
    means = added.mean(axis=1)
    half = t_critical(blocks - 1) * added.std(axis=1, ddof=1) / np.sqrt(blocks)
    at = np.array([share])
    truth = float(response_time(at, traced=True)[0] - response_time(at, traced=False)[0])
    return float((np.abs(means - truth) <= half).mean()), float(half.mean()) / truth, float(means.mean()) / truth - 1


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print("| | requests beyond it | of a start | " + " | ".join(f"{blocks} blocks" for blocks in BLOCKS) + " | error |")
    print("| --- | --: | --: |" + " --: |" * (len(BLOCKS) + 1))
    for name, share in PERCENTILES.items():
        for beyond in BEYOND:
            told = [held(share, beyond, blocks, options.campaigns, rng) for blocks in BLOCKS]
            cells = " | ".join(f"{100 * holds:.1f} % (± {100 * half:.0f} %)" for holds, half, _ in told)
            print(f"| {name} | {beyond} | {round(beyond / (1 - share)):,} | {cells} | {100 * told[-1][2]:+.1f} % |")


if __name__ == "__main__":
    main()
