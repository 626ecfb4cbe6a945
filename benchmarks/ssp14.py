"""Sets a run of `ssp14-tuning` beside the tables of Waller et al. (2014), and decides their statements by rules.

    PYTHONPATH=src .venv/bin/python benchmarks/ssp14.py RUN

RUN is the folder of the run. It prints Markdown.

Each statement says that a step makes calls faster, up to one layer or up to two. It is decided by ratios of throughput,
of the step over the form before it, paired by block, with 95 % intervals:

    confirmed       each interval that the statement needs lies above 1
    refuted         one of them lies below 1
    undecided       otherwise
    not comparable  fewer than three blocks, or a record of a form that is needed is missing

    PT1  collecting gets faster                                     (text of section 4.3)
    PT2  writing gets faster                                        (section 4.4)
    PT3  collecting gets faster, and writing                        (section 4.5)
    PT4  collecting gets faster                                     (section 4.6)

Whether the step is as large as printed is told beside, and decides nothing: the machine is another one.
Trials that others disturbed do not count in ratios and differences. They do in the throughputs of the rows, which are
those of the findings.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from tracetax.results.blocks import service_mean, whole_blocks
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName, find_measure
from tracetax.results.folder import RunFolder
from tracetax.statistics.intervals import Estimate, t_interval

PUBLISHED = Path(__file__).resolve().parents[1] / "published"
STEPS = {"base": "before", "pt1": "PT1", "pt2": "PT2", "pt3": "PT3", "pt4": "PT4"}
TABLES = {
    "base": "002_table1_throughput_basis.csv",
    "pt1": "002_table2_throughput_pt1.csv",
    "pt2": "002_table3_throughput_pt2.csv",
    "pt3": "002_table4_throughput_pt3.csv",
    "pt4": "002_table5_throughput_pt4.csv",
}
LAYERS = {
    "baseline": "No instr. (T)",
    "deactivated": "Deactiv. (T+I)",
    "collected": "Collecting (T+I+C)",
    "written": "Writing (T+I+C+W)",
}
"""What is measured of a step, and how the paper calls it."""
ALONE = {
    "written:less-pt1": "without PT1, caching",
    "written:less-pt2": "without PT2, by ArrayBlockingQueue",
    "written:less-pt3": "without PT3, by record objects",
    "written:pt3": "without PT4, by the general code",
    "written": "with one record per execution",
}
HANDOVERS = {
    "pt1": "ArrayBlockingQueue",
    "linked": "LinkedBlockingQueue",
    "pt2": "Disruptor",
    "mpsc": "MpscArrayQueue",
    "threads": "a queue per thread",
}
QUARTILES: tuple[MeasureName, ...] = ("throughput_q1", "throughput_median", "throughput_q3")
FEWEST_BLOCKS = 3
SECOND_NS = 1e9
US = 1e3

Times = Mapping[tuple[str, str], Mapping[int, float]]
"""By part and configuration: the mean time of a call in each block, ns; of the baseline that of its two."""


class Claim(Struct, frozen=True):
    """That calls get faster up to a layer, from one form to the next."""

    layer: str
    before: str
    after: str


class Saying(Struct, frozen=True):
    """A statement of the paper on a step."""

    step: str
    says: str
    claims: tuple[Claim, ...]


class Verdict(Struct, frozen=True):
    """A statement, decided."""

    step: str
    says: str
    decided: str
    because: str


SAYINGS = (
    Saying("PT1", "caching makes collecting faster", (Claim("collected", "base", "pt1"),)),
    Saying("PT2", "the Disruptor makes writing faster", (Claim("written", "pt1", "pt2"),)),
    Saying(
        "PT3",
        "flat records make collecting faster, and writing",
        (Claim("collected", "pt2", "pt3"), Claim("written", "pt2", "pt3")),
    ),
    Saying("PT4", "minimal code makes collecting faster", (Claim("collected", "pt3", "pt4"),)),
)


def times(run: RunFolder) -> Times:
    """What the whole blocks of a run say, of trials that nobody disturbed."""
    found: dict[tuple[str, str], dict[int, list[float]]] = {}
    for number, block in whole_blocks(run.records()).items():
        for cell, trial in block.items():
            if trial.status == "ok" and not (trial.disturbance and trial.disturbance.disturbed):
                of = found.setdefault((cell.part, cell.use.configuration), {})
                of.setdefault(number, []).append(service_mean(trial))
    return {key: {number: sum(of) / len(of) for number, of in blocks.items()} for key, blocks in found.items()}


def inexact(rows: Iterable[ConfigurationFinding]) -> frozenset[tuple[str, str]]:
    """The rows, by part and configuration, of which a promised record is missing or a tree is not whole."""
    return frozenset(
        (row.part, row.configuration)
        for row in rows
        if row.delivery == "complete"
        and (row.records.received != row.records.expected or any(one.severity == "error" for one in row.verdicts))
    )


def faster(found: Times, part: str, before: str, after: str) -> Estimate | None:
    """The logarithm of how many times as fast calls are, over blocks that have both; None where there are too few."""
    first, second = found.get((part, before), {}), found.get((part, after), {})
    logs = [math.log(first[block] / second[block]) for block in sorted(first.keys() & second.keys())]
    return t_interval(logs) if len(logs) >= FEWEST_BLOCKS else None


def decided(found: Times, missing: frozenset[tuple[str, str]]) -> list[Verdict]:
    """The paper's statements, each by its rule."""
    return [_decided(saying, found, missing) for saying in SAYINGS]


def _decided(saying: Saying, found: Times, missing: frozenset[tuple[str, str]]) -> Verdict:
    ratios: list[tuple[float, float]] = []
    told: list[str] = []
    unknown = False
    for claim in saying.claims:
        before, after = f"{claim.layer}:{claim.before}", f"{claim.layer}:{claim.after}"
        of = faster(found, "steps", before, after)
        lost = [name for name in (before, after) if ("steps", name) in missing]
        printed = _printed_ratio(claim)
        if lost or of is None or of.ci95 is None:
            unknown = True
            told.append(f"{claim.layer}: " + (f"records are missing of {', '.join(lost)}" if lost else "not measured"))
            continue
        low, high = (math.exp(limit) for limit in of.ci95)
        ratios.append((low, high))
        size = "more than" if low > printed else "less than" if high < printed else "as"
        ratio = _between(math.exp(of.mean), low, high)
        told.append(f"{claim.layer} {ratio} times as fast, {size} printed ({printed:.2f})")
    if unknown:
        outcome = "not comparable"
    elif any(high < 1 for _, high in ratios):
        outcome = "refuted"
    else:
        outcome = "confirmed" if all(low > 1 for low, _ in ratios) else "undecided"
    return Verdict(saying.step, saying.says, outcome, "; ".join(told))


def _between(estimate: float, low: float, high: float) -> str:
    return f"{estimate:.2f} ({low:.2f} to {high:.2f})"


def _printed_ratio(claim: Claim) -> float:
    rates = published()
    return rates[claim.after, claim.layer, "mean"] / rates[claim.before, claim.layer, "mean"]


def published() -> dict[tuple[str, str, str], float]:
    """Tables 1 to 5 by step, layer and statistic, traces/s; half-widths as the statistic ``half``."""
    names = {title: layer for layer, title in LAYERS.items()}
    found: dict[tuple[str, str, str], float] = {}
    for step, name in TABLES.items():
        with (PUBLISHED / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                layer = names[row["configuration"].rpartition(" / ")[2]]
                found[step, layer, row["statistic"]] = float(row["value"])
                if row["spread"]:
                    found[step, layer, "half"] = float(row["spread"])
    return found


def write(configurations: Sequence[ConfigurationFinding], found: Times, to: TextIO) -> None:
    """The tables and what is decided, as Markdown."""
    rows = {(row.part, row.configuration): row for row in configurations}
    missing = inexact(configurations)
    _throughput(rows, to)
    _phases(found, to)
    print("\n| step | the paper says | here | because |\n| --- | --- | --- | --- |", file=to)
    for one in decided(found, missing):
        print(f"| {one.step} | {one.says} | *{one.decided}* | {one.because} |", file=to)
    _alone(rows, found, to)
    _handovers(rows, found, to)
    lost = ", ".join(" ".join(key) for key in sorted(missing))
    print(f"\nRecords are missing of: {lost or 'none'}.", file=to)


def _throughput(rows: Mapping[tuple[str, str], ConfigurationFinding], to: TextIO) -> None:
    printed = published()
    print("Calls per second, in thousands:\n", file=to)
    print("| step | run | mean | Q1 | median | Q3 | the paper | Q1 | median | Q3 |", file=to)
    print("| --- | --- |" + " --: |" * 8, file=to)
    for step, title in STEPS.items():
        for layer, name in LAYERS.items():
            row = rows.get(("steps", layer if layer == "baseline" else f"{layer}:{step}"))
            ours = [_thousands(find_measure(row, each) if row else None) for each in ("throughput", *QUARTILES)]
            theirs = [f"{printed[step, layer, each] / 1e3:,.1f}" for each in ("mean", "q1", "median", "q3")]
            theirs[0] += f" ± {printed[step, layer, 'half'] / 1e3:,.1f}"
            print(f"| {title} | {name} | {' | '.join((*ours, *theirs))} |", file=to)


def _thousands(of: Measure | None) -> str:
    if of is None:
        return "–"
    half = f" ± {(of.ci95[1] - of.ci95[0]) / 2e3:,.1f}" if of.ci95 else ""
    return f"{of.estimate / 1e3:,.1f}{half}"


def _phases(found: Times, to: TextIO) -> None:
    """What each layer adds, by block; the paper's are differences of what its throughputs are the inverse of."""
    printed = published()
    print("\nWhat each layer adds to a call, µs (± is a 95 % interval):\n", file=to)
    print("| step | I | C | W | the paper: I | C | W |\n| --- |" + " --: |" * 6, file=to)
    names = list(LAYERS)
    for step, title in STEPS.items():
        cells: list[str] = []
        for before, after in pairwise(names):
            first = found.get(("steps", before if before == "baseline" else f"{before}:{step}"), {})
            second = found.get(("steps", f"{after}:{step}"), {})
            cells.append(_added([second[one] - first[one] for one in sorted(first.keys() & second.keys())]))
        inverse = [SECOND_NS / printed[step, layer, "mean"] / US for layer in names]
        cells += [f"{after - before:.2f}" for before, after in pairwise(inverse)]
        print(f"| {title} | {' | '.join(cells)} |", file=to)


def _added(values: list[float]) -> str:
    if not values:
        return "–"
    of = t_interval(values)
    return f"{of.mean / US:.2f}" + (f" ± {of.half_width / US:.2f}" if of.half_width is not None else "")


def _alone(rows: Mapping[tuple[str, str], ConfigurationFinding], found: Times, to: TextIO) -> None:
    print("\nThe fast form (PT4) with one thing changed, over TCP:\n", file=to)
    print("| | calls/s, thousands | times as fast as PT4 | CPU per record, ns |\n| --- |" + " --: |" * 3, file=to)
    for configuration, title in {"written:pt4": "PT4", **ALONE}.items():
        row = rows.get(("alone", configuration))
        ratio = "1" if configuration == "written:pt4" else _times(faster(found, "alone", "written:pt4", configuration))
        print(f"| {title} | {_rate_and_cpu(row, ratio)} |", file=to)


def _handovers(rows: Mapping[tuple[str, str], ConfigurationFinding], found: Times, to: TextIO) -> None:
    print("\nPT1 by five hand-overs:\n", file=to)
    print(
        "| hand-over | up to | calls/s, thousands | times as fast as ArrayBlockingQueue | CPU per record, ns |", file=to
    )
    print("| --- | --- | --: | --: | --: |", file=to)
    for form, title in HANDOVERS.items():
        for layer, name in {"queued": "thrown away behind it", "written": "over TCP"}.items():
            row = rows.get(("hand-over", f"{layer}:{form}"))
            ratio = "1" if form == "pt1" else _times(faster(found, "hand-over", f"{layer}:pt1", f"{layer}:{form}"))
            print(f"| {title} | {name} | {_rate_and_cpu(row, ratio)} |", file=to)


def _rate_and_cpu(row: ConfigurationFinding | None, ratio: str) -> str:
    rate = _thousands(find_measure(row, "throughput") if row else None)
    cpu = find_measure(row, "cpu", "record") if row else None
    half = f" ± {(cpu.ci95[1] - cpu.ci95[0]) / 2:,.0f}" if cpu and cpu.ci95 else ""
    return f"{rate} | {ratio} | " + (f"{cpu.estimate:,.0f}{half}" if cpu else "–")


def _times(of: Estimate | None) -> str:
    if of is None or of.ci95 is None:
        return "–"
    return _between(math.exp(of.mean), *(math.exp(limit) for limit in of.ci95))


def main() -> None:
    """Read the run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    run = RunFolder(parser.parse_args().run)
    write(run.findings.configurations, times(run), sys.stdout)


if __name__ == "__main__":
    main()
