"""Sets a search by `nou25-throughput` beside the thesis's Table 3.6, and decides its findings MF3.1 to MF3.3 by rules.

    PYTHONPATH=src .venv/bin/python -m benchmarks.nou25 RUN [--csv FILE]

RUN is the folder of the search. It prints Markdown; `--csv` writes what was found of each configuration.

    MF3.1  throughput goes down with tracing, everywhere: every ratio's 95 % interval lies below 1
    MF3.2  it costs least in Java and most in Node: the means over endpoints and agents say so
    MF3.3  OpenTelemetry mostly reaches more than Elastic APM: it does in three of four stacks, over the endpoints
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from benchmarks.verdicts import Verdict, write_verdicts
from msgspec import Struct

from tracetax.results.capacity import CapacityFinding, judged, read_capacity

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "published" / "001_table3_6_throughput.csv"
STACKS = {"go": "Go http", "java": "Java Spring", "node": "Node.js", "python": "Python Flask"}
"""As the thesis calls them."""
ENDPOINTS = ("json", "db", "queries", "updates")
AGENTS = {"none": "no agent", "opentelemetry": "OpenTelemetry", "elastic": "Elastic APM"}
TRACED = ("opentelemetry", "elastic")
MOST_STACKS = 3
"""Of four, for "mostly"."""

Key = tuple[str, str, str]
"""Endpoint, stack, agent."""


class Rate(Struct, frozen=True):
    """What a search has found of one configuration, requests/s."""

    rate: float | None
    low: float | None
    high: float | None
    trials: int
    ratio: float | None
    """To the rate without an agent."""
    ratio_low: float | None
    ratio_high: float | None
    made: float
    """The most that was sent, where there is no answer."""
    outcome: str


def rates(rows: Iterable[CapacityFinding]) -> dict[Key, Rate]:
    """By endpoint, stack and agent."""
    found: dict[Key, Rate] = {}
    for row in rows:
        endpoint, stack, *_ = row.part.split("-")
        at, seen = row.at_usage, judged(row.trials)
        ci, ratio = (at.rate.ci95 if at else None) or (None, None), at.ratio if at else None
        between = (ratio.ci95 if ratio else None) or (None, None)
        found[endpoint, stack, row.agent] = Rate(
            rate=at.rate.mean if at else None,
            low=ci[0],
            high=ci[1],
            trials=at.rate.n if at else 0,
            ratio=ratio.mean if ratio else None,
            ratio_low=between[0],
            ratio_high=between[1],
            made=max((trial.offered for trial in seen), default=0.0),
            outcome=row.outcome,
        )
    return found


def decided(found: Mapping[Key, Rate]) -> list[Verdict]:
    """The thesis's findings on throughput, each by its rule; not comparable where numbers are missing."""
    return [_everywhere(found), _order(found), _mostly(found)]


def _everywhere(found: Mapping[Key, Rate]) -> Verdict:
    says = "throughput goes down with tracing in each stack"
    ratios = [found[key] for key in _traced() if key in found and found[key].ratio_high is not None]
    below = [one for one in ratios if one.ratio_high is not None and one.ratio_high < 1]
    above = [one for one in ratios if one.ratio_low is not None and one.ratio_low > 1]
    unknown = len(_traced()) - len(ratios)
    because = f"{len(below)} of {len(ratios)} ratios of rates lie below 1, with their intervals"
    because += f", {len(above)} lie above" * bool(above) + f"; {unknown} are not known" * bool(unknown)
    if not ratios:
        return Verdict("MF3.1", says, "not comparable", because)
    if above:
        return Verdict("MF3.1", says, "contradicted", because)
    return Verdict("MF3.1", says, "confirmed" if len(below) == len(_traced()) else "undecided", because)


def _order(found: Mapping[Key, Rate]) -> Verdict:
    says = "the cost is least in Java and largest in Node"
    means = {stack: _mean(found, [(e, stack, a) for e in ENDPOINTS for a in TRACED]) for stack in STACKS}
    known = {stack: mean for stack, mean in means.items() if mean is not None}
    because = "rate with tracing as a share of that without: " + ", ".join(
        f"{STACKS[stack]} {mean:.2f}" for stack, mean in sorted(known.items(), key=lambda one: -one[1])
    )
    if len(known) < len(STACKS):
        return Verdict("MF3.2", says, "not comparable", because)
    least, most = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    return Verdict("MF3.2", says, "confirmed" if (least, most) == ("java", "node") else "contradicted", because)


def _mostly(found: Mapping[Key, Rate]) -> Verdict:
    says = "OpenTelemetry reaches more requests/s than Elastic APM in most stacks"
    by_stack: dict[str, float] = {}
    for stack in STACKS:
        pairs = [(found.get((e, stack, "opentelemetry")), found.get((e, stack, "elastic"))) for e in ENDPOINTS]
        logs = [math.log(a.rate / b.rate) for a, b in pairs if a and b and a.rate and b.rate]
        if logs:
            by_stack[stack] = math.exp(sum(logs) / len(logs))
    because = "OpenTelemetry's rate over Elastic's: " + ", ".join(
        f"{STACKS[stack]} {ratio:.2f}" for stack, ratio in by_stack.items()
    )
    if len(by_stack) < len(STACKS):
        return Verdict("MF3.3", says, "not comparable", because)
    more = sum(ratio > 1 for ratio in by_stack.values())
    return Verdict("MF3.3", says, "confirmed" if more >= MOST_STACKS else "contradicted", because)


def _traced() -> list[Key]:
    return [(endpoint, stack, agent) for endpoint in ENDPOINTS for stack in STACKS for agent in TRACED]


def _mean(found: Mapping[Key, Rate], keys: Sequence[Key]) -> float | None:
    """The geometric mean of ratios; None where one of them is not known."""
    ratios = [one.ratio for key in keys if (one := found.get(key)) and one.ratio is not None]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if len(ratios) == len(keys) else None


def published() -> dict[tuple[str, str], float]:
    """Table 3.6 by stack and agent, requests/s: means over its four endpoints."""
    names = {title: stack for stack, title in STACKS.items()}
    agents = {title: agent for agent, title in AGENTS.items()} | {"none": "none"}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            (names[row["stack"]], agents[row["agent"]]): float(row["value"])
            for row in csv.DictReader(file)
            if row["statistic"] == "mean"
        }


def write(found: Mapping[Key, Rate], to: TextIO) -> None:
    """The tables and what is decided, as Markdown."""
    print("| | agent | " + " | ".join(f"/{endpoint}" for endpoint in ENDPOINTS) + " | mean | thesis |", file=to)
    print("| --- | --- |" + " --: |" * (len(ENDPOINTS) + 2), file=to)
    thesis = published()
    for stack, title in STACKS.items():
        for agent, name in AGENTS.items():
            cells = [found.get((endpoint, stack, agent)) for endpoint in ENDPOINTS]
            known = [one.rate for one in cells if one and one.rate]
            mean = f"{sum(known) / len(known):,.0f}" if len(known) == len(ENDPOINTS) else "–"
            print(
                f"| {title} | {name} | " + " | ".join(map(_cell, cells)) + f" | {mean} | {thesis[stack, agent]:,.5g} |",
                file=to,
            )
    print("\nLess than without an agent, per cent:\n", file=to)
    print("| | agent | " + " | ".join(f"/{endpoint}" for endpoint in ENDPOINTS) + " | thesis |", file=to)
    print("| --- | --- |" + " --: |" * (len(ENDPOINTS) + 1), file=to)
    for stack, title in STACKS.items():
        for agent in TRACED:
            cells = [found.get((endpoint, stack, agent)) for endpoint in ENDPOINTS]
            less = 100 * (1 - thesis[stack, agent] / thesis[stack, "none"])
            print(f"| {title} | {AGENTS[agent]} | " + " | ".join(map(_less, cells)) + f" | {less:.0f} |", file=to)
    write_verdicts(decided(found), to)


def _cell(one: Rate | None) -> str:
    if one is None:
        return ""
    if one.rate is None:
        return f"over {one.made:,.0f}" if one.outcome == "none-made" else "–"
    half = f" ± {(one.high - one.low) / 2:,.0f}" if one.low is not None and one.high is not None else ""
    return f"{one.rate:,.0f}{half}"


def _less(one: Rate | None) -> str:
    if one is None or one.ratio is None:
        return "–"
    if one.ratio_low is None or one.ratio_high is None:
        return f"{100 * (1 - one.ratio):.0f}"
    return f"{100 * (1 - one.ratio):.0f} ({100 * (1 - one.ratio_high):.0f} to {100 * (1 - one.ratio_low):.0f})"


def main() -> None:
    """Read the run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    found = rates(read_capacity(options.run).configurations)
    write(found, sys.stdout)
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("endpoint", "stack", "agent", *Rate.__struct_fields__))
            for key, one in found.items():
                values = (getattr(one, name) for name in Rate.__struct_fields__)
                writer.writerow((*key, *(f"{v:.6g}" if isinstance(v, float) else v for v in values)))


if __name__ == "__main__":
    main()
