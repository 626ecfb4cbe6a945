"""Sets a run of `nou25-latency` beside the thesis's Table 3.7, and decides its findings MF3.4 to MF3.6 by rules.

    PYTHONPATH=src .venv/bin/python -m benchmarks.nou25_latency RUN [RUN …]

RUN is the folder of the run. Further ones measure single cases again, such as
`run --workload requests/go --endpoint json --agent opentelemetry,elastic --configuration parity`: their rows take the
place of those before. It prints Markdown.

    MF3.4  the median rose in every case: each 95 % interval of what is added to it lies above 0. Contradicted where
           one holds 0 and its ends are less than half of the smallest rise that the thesis prints (0.09 ms) away
    MF3.5  both tools cost about the same, OpenTelemetry mostly a little more: it adds more in so many of the sixteen
           pairs that chance is excluded (sign test, 95 %). Contradicted also where it depends on the stack: in one
           of them Elastic APM's median is the higher one, by the 95 % interval of the ratio over its endpoints
    MF3.6  how much depends on the framework: the ratios of medians of the least and of the most affected stack, over
           endpoints and agents, have intervals apart from each other
"""

import argparse
import csv
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import msgspec
from benchmarks.nou25 import AGENTS, ENDPOINTS, STACKS, TRACED, Key
from benchmarks.verdicts import Verdict, write_verdicts
from msgspec import Struct

from tracetax.kinds.requests import RequestParameters
from tracetax.model import language_of
from tracetax.results.findings import Findings, Measure, find_measure
from tracetax.statistics.intervals import Estimate, t_interval

PUBLISHED = Path(__file__).resolve().parents[1] / "published" / "001_table3_7_latency.csv"
MS = 1e6
CHANCE = 0.025
"""On each side of the sign test."""
NO_RISE_NS = 0.09e6 / 2
"""Half of what OpenTelemetry adds in Java by Table 3.7, the smallest rise there."""


class Latency(Struct, frozen=True):
    """Response times of one configuration, ns; None where they are not known."""

    rate: float
    median: Measure | None
    median_added: Measure | None
    p99: Measure | None
    p99_added: Measure | None
    cpu_ratio: Measure | None
    blocks: int
    expected: int
    received: int


def latencies(findings: Findings) -> dict[Key, Latency]:
    """By endpoint, stack and agent."""
    found: dict[Key, Latency] = {}
    stacks = {
        part.name: language_of(part.workload or findings.experiment.workload) for part in findings.experiment.parts
    }
    for row in findings.configurations:
        assert isinstance(row.parameters, RequestParameters)
        found[row.parameters.mix[0].endpoint, stacks[row.part], row.agent] = Latency(
            rate=float(row.parameters.rate),
            median=find_measure(row, "response_time_median"),
            median_added=find_measure(row, "response_time_median_added"),
            p99=find_measure(row, "response_time_p99"),
            p99_added=find_measure(row, "response_time_p99_added"),
            cpu_ratio=find_measure(row, "cpu_ratio"),
            blocks=row.records.blocks,
            expected=row.records.expected,
            received=row.records.received,
        )
    return found


def decided(found: Mapping[Key, Latency]) -> list[Verdict]:
    """The thesis's findings on latency, each by its rule; not comparable where numbers are missing."""
    return [_everywhere(found), _more(found), _apart(found)]


def _pairs() -> list[tuple[str, str]]:
    return [(endpoint, stack) for endpoint in ENDPOINTS for stack in STACKS]


def _everywhere(found: Mapping[Key, Latency]) -> Verdict:
    says = "the median response time rose in every case"
    keys = [(endpoint, stack, agent) for endpoint, stack in _pairs() for agent in TRACED]
    intervals = {key: of.ci95 for key in keys if key in found and (of := found[key].median_added) and of.ci95}
    known = list(intervals.values())
    above, below = sum(low > 0 for low, _ in known), sum(high < 0 for _, high in known)
    unknown = len(keys) - len(known)
    because = f"{above} of {len(known)} intervals lie above 0, {len(known) - above - below} contain it"
    because += f", {below} lie below" * bool(below) + f"; {unknown} are not known" * bool(unknown)
    if not known:
        return Verdict("MF3.4", says, "not comparable", because)
    none = [key for key, (low, high) in intervals.items() if -NO_RISE_NS < low <= 0 <= high < NO_RISE_NS]
    if none:
        told = ", ".join(f"{STACKS[stack]} /{endpoint} with {AGENTS[agent]}" for endpoint, stack, agent in none)
        because += f"; no rise, to {NO_RISE_NS / MS:.3f} ms, in {told}"
    if below or none:
        return Verdict("MF3.4", says, "contradicted", because)
    return Verdict("MF3.4", says, "confirmed" if above == len(keys) else "undecided", because)


def _more(found: Mapping[Key, Latency]) -> Verdict:
    says = "both tools cost about the same in the median, OpenTelemetry mostly a little more"
    medians = [[found.get((e, s, a)) for a in TRACED] for e, s in _pairs()]
    both = [
        (first.median.estimate, second.median.estimate)
        for first, second in medians
        if first and second and first.median and second.median
    ]
    more = sum(first > second for first, second in both)
    because = f"OpenTelemetry's median is the higher one in {more} of {len(both)} pairs"
    if len(both) < len(_pairs()):
        return Verdict("MF3.5", says, "not comparable", because)
    otherwise = {STACKS[stack]: of for stack in STACKS if (of := _less_in(found, stack))}
    if otherwise:
        in_stacks = ", ".join(
            f"{name} {math.exp(-of.mean):.2f} times ({math.exp(-high):.2f} to {math.exp(-low):.2f})"
            for name, of in otherwise.items()
            for low, high in [of.ci95 or (math.nan, math.nan)]
        )
        return Verdict("MF3.5", says, "contradicted", f"{because}; Elastic APM's is higher in {in_stacks}")
    if _by_chance(more, len(both)) <= CHANCE:
        return Verdict("MF3.5", says, "confirmed", because)
    less = _by_chance(len(both) - more, len(both)) <= CHANCE
    return Verdict("MF3.5", says, "contradicted" if less else "undecided", because)


def _less_in(found: Mapping[Key, Latency], stack: str) -> Estimate | None:
    """OpenTelemetry's median over Elastic APM's in a stack, as a logarithm over its endpoints; None unless below 0."""
    logs = [
        math.log(first.median.estimate / second.median.estimate)
        for endpoint in ENDPOINTS
        for first, second in [[found[endpoint, stack, agent] for agent in TRACED]]
        if first.median and second.median
    ]
    ratio = t_interval(logs)
    return ratio if ratio.ci95 and ratio.ci95[1] < 0 else None


def _by_chance(heads: int, of: int) -> float:
    """How probable at least so many heads are of so many throws of a coin."""
    return sum(math.comb(of, number) for number in range(heads, of + 1)) / 2**of


def ratio(found: Mapping[Key, Latency], key: Key) -> float | None:
    """The median with an agent over that without."""
    endpoint, stack, _ = key
    own, without = found.get(key), found.get((endpoint, stack, "none"))
    return own.median.estimate / without.median.estimate if own and without and own.median and without.median else None


def _of_stack(found: Mapping[Key, Latency], stack: str) -> Estimate | None:
    """The logarithm of the ratio over a stack's endpoints and agents; None where one is not known."""
    ratios = [ratio(found, (endpoint, stack, agent)) for endpoint in ENDPOINTS for agent in TRACED]
    logs = [math.log(one) for one in ratios if one]
    return t_interval(logs) if len(logs) == len(ratios) else None


def _apart(found: Mapping[Key, Latency]) -> Verdict:
    says = "how much the median rises depends on the framework"
    known = {stack: of for stack in STACKS if (of := _of_stack(found, stack)) and of.ci95}
    because = "the median with tracing over that without: " + ", ".join(
        f"{STACKS[stack]} {math.exp(of.mean):.2f} ({math.exp(of.ci95[0]):.2f} to {math.exp(of.ci95[1]):.2f})"
        for stack, of in sorted(known.items(), key=lambda one: one[1].mean)
        if of.ci95
    )
    if len(known) < len(STACKS):
        return Verdict("MF3.6", says, "not comparable", because)
    least, most = min(known.values(), key=lambda of: of.mean), max(known.values(), key=lambda of: of.mean)
    apart = least.ci95 and most.ci95 and least.ci95[1] < most.ci95[0]
    return Verdict("MF3.6", says, "confirmed" if apart else "undecided", because)


def published() -> dict[tuple[str, str], float]:
    """The medians of Table 3.7 by stack and agent, ms, over its four endpoints."""
    names = {title: stack for stack, title in STACKS.items()}
    agents = {title: agent for agent, title in AGENTS.items()} | {"none": "none"}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            (names[row["stack"]], agents[row["agent"]]): float(row["value"])
            for row in csv.DictReader(file)
            if row["statistic"] == "median"
        }


def write(found: Mapping[Key, Latency], to: TextIO) -> None:
    """The tables and what is decided, as Markdown."""
    thesis = published()
    columns = " | ".join(f"/{endpoint}" for endpoint in ENDPOINTS)
    print("Median without an agent, and what each adds to it, ms:\n", file=to)
    print(f"| | agent | {columns} | thesis |\n| --- | --- |" + " --: |" * (len(ENDPOINTS) + 1), file=to)
    for stack, title in STACKS.items():
        for agent, name in AGENTS.items():
            rows = [found.get((endpoint, stack, agent)) for endpoint in ENDPOINTS]
            values = [(row.median if agent == "none" else row.median_added) if row else None for row in rows]
            beside = thesis[stack, agent] - (thesis[stack, "none"] if agent != "none" else 0)
            print(f"| {title} | {name} | " + " | ".join(map(_ms, values)) + f" | {beside:.2f} |", file=to)
    print("\nThe median with an agent over that without, and of the 99th percentile what is added, ms:\n", file=to)
    print(f"| | agent | {columns} | thesis | p99 added: {columns} |", file=to)
    print("| --- | --- |" + " --: |" * (2 * len(ENDPOINTS) + 1), file=to)
    for stack, title in STACKS.items():
        for agent in TRACED:
            keys = [(endpoint, stack, agent) for endpoint in ENDPOINTS]
            ratios = [ratio(found, key) for key in keys]
            shown = " | ".join(f"{one:.2f}" if one else "–" for one in ratios)
            p99 = " | ".join(_ms(found[key].p99_added if key in found else None) for key in keys)
            beside = thesis[stack, agent] / thesis[stack, "none"]
            print(f"| {title} | {AGENTS[agent]} | {shown} | {beside:.2f} | {p99} |", file=to)
    print("\nCPU of a request, more by per cent, and records that arrived:\n", file=to)
    print(f"| | agent | {columns} | records |\n| --- | --- |" + " --: |" * (len(ENDPOINTS) + 1), file=to)
    for stack, title in STACKS.items():
        for agent in TRACED:
            rows = [found.get((endpoint, stack, agent)) for endpoint in ENDPOINTS]
            received, expected = sum(row.received for row in rows if row), sum(row.expected for row in rows if row)
            shown = " | ".join(_more_by(row.cpu_ratio if row else None) for row in rows)
            print(f"| {title} | {AGENTS[agent]} | {shown} | {received:,} of {expected:,} |", file=to)
    write_verdicts(decided(found), to)


def _ms(of: Measure | None) -> str:
    if of is None:
        return "–"
    if of.ci95 is None:
        return f"{of.estimate / MS:.2f}"
    return f"{of.estimate / MS:.2f} ({of.ci95[0] / MS:.2f} to {of.ci95[1] / MS:.2f})"


def _more_by(of: Measure | None) -> str:
    if of is None:
        return "–"
    between = f" ({100 * of.ci95[0] - 100:.0f} to {100 * of.ci95[1] - 100:.0f})" if of.ci95 else ""
    return f"{100 * of.estimate - 100:.0f}{between}"


def main() -> None:
    """Read the run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    options = parser.parse_args()
    found: dict[Key, Latency] = {}
    for run in options.runs:
        found |= latencies(msgspec.json.decode((run / "findings.json").read_bytes(), type=Findings))
    write(found, sys.stdout)


if __name__ == "__main__":
    main()
