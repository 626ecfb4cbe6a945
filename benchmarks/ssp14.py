"""Sets a run of `ssp14-tuning` beside the tables of Waller et al. (2014), and decides their statements by rules.

    PYTHONPATH=src .venv/bin/python -m benchmarks.ssp14 RUN [RUN ...] [--csv FILE]

RUN is the folder of a run; blocks of several runs are put together. It prints Markdown;
`--csv` writes every trial that counts.

Each statement says that a step makes calls faster, up to one layer or up to two. It is decided by ratios of throughput,
of the step over the form before it, paired by block, with 95 % intervals:

    confirmed       each interval that the statement needs lies above 1
    refuted         one of them lies below 1
    undecided       otherwise
    not comparable  fewer than two blocks, or a record of a form that is needed is missing

    PT1  collecting gets faster                                     (text of section 4.3)
    PT2  writing gets faster                                        (section 4.4)
    PT3  collecting gets faster, and writing                        (section 4.5)
    PT4  collecting gets faster                                     (section 4.6)

Whether the step is as large as printed is told beside, and decides nothing: the machine is another one.
The same configuration in two parts counts as one. Trials that others disturbed do not count. They do in the CPU per
record, which is that of the last run's findings.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TextIO

from benchmarks.verdicts import Verdict, write_verdicts
from msgspec import Struct
from msgspec.structs import replace

from tracetax.analysis.measures import throughput
from tracetax.results.blocks import service_mean, whole_blocks
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName, find_measure
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord
from tracetax.statistics.intervals import Estimate, Floats, t_interval

PUBLISHED = Path(__file__).resolve().parents[1] / "published"
AGENTS = ("none", "ladder")
"""The floor, which stands beside them in a run, is none of the forms."""
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
DEPTH = 10
FEWEST_BLOCKS = 2
SECOND_NS = 1e9
US = 1e3

Times = Mapping[str, Mapping[int, float]]
"""By configuration, in whichever part: the mean time of a call in each block, ns; of the baseline that of its two."""


class Trial(NamedTuple):
    """A trial, and the run that it lies in."""

    record: TrialRecord
    run: RunFolder


Trials = Mapping[str, Mapping[int, Sequence[Trial]]]
"""By configuration, in whichever part: the trials of each block."""


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


def undisturbed(runs: Sequence[RunFolder]) -> Trials:
    """The good trials of whole blocks that nobody disturbed; blocks of several runs count on."""
    found: dict[str, dict[int, list[Trial]]] = {}
    before = 0
    for run in runs:
        blocks = whole_blocks(run.records())
        for number, block in blocks.items():
            for cell, trial in block.items():
                if (
                    cell.use.agent in AGENTS
                    and trial.status == "ok"
                    and not (trial.disturbance and trial.disturbance.disturbed)
                ):
                    of = found.setdefault(cell.use.configuration, {})
                    of.setdefault(before + number, []).append(Trial(trial, run))
        before += max(blocks, default=0)
    return found


def times(trials: Trials) -> Times:
    """What they say of a call."""
    return {
        key: {number: sum(service_mean(trial.record) for trial in of) / len(of) for number, of in blocks.items()}
        for key, blocks in trials.items()
    }


def with_throughput(rows: Iterable[ConfigurationFinding], trials: Trials) -> list[ConfigurationFinding]:
    """The rows with the throughput of these trials alone."""
    result: list[ConfigurationFinding] = []
    for row in rows:
        bins: dict[int, Floats] = {}
        by_block: list[list[TrialRecord]] = []
        for block in trials.get(row.configuration, {}).values():
            by_block.append([])
            for trial in block:
                means = trial.run.bin_means(trial.record.number)
                if means is not None:
                    number = len(bins)  # of several runs, two trials may have the same
                    bins[number] = means
                    by_block[-1].append(replace(trial.record, number=number))
        others = [one for one in row.measures if not one.name.startswith("throughput")]
        result.append(replace(row, measures=(*others, *throughput(by_block, bins))))
    return result


def inexact(rows: Iterable[ConfigurationFinding]) -> frozenset[str]:
    """The configurations of which a promised record is missing or a tree is not whole."""
    return frozenset(
        row.configuration
        for row in rows
        if row.delivery == "complete"
        and (row.records.received != row.records.expected or any(one.severity == "error" for one in row.verdicts))
    )


def faster(found: Times, before: str, after: str) -> Estimate | None:
    """The logarithm of how many times as fast calls are, over blocks that have both; None where there are too few."""
    first, second = found.get(before, {}), found.get(after, {})
    logs = [math.log(first[block] / second[block]) for block in sorted(first.keys() & second.keys())]
    return t_interval(logs) if len(logs) >= FEWEST_BLOCKS else None


def decided(found: Times, missing: frozenset[str]) -> list[Verdict]:
    """The paper's statements, each by its rule."""
    return [_decided(saying, found, missing) for saying in SAYINGS]


def _decided(saying: Saying, found: Times, missing: frozenset[str]) -> Verdict:
    ratios: list[tuple[float, float]] = []
    told: list[str] = []
    unknown = False
    for claim in saying.claims:
        before, after = f"{claim.layer}:{claim.before}", f"{claim.layer}:{claim.after}"
        of = faster(found, before, after)
        lost = [name for name in (before, after) if name in missing]
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
    write_verdicts(decided(found, missing), to, "step")
    _alone(rows, found, to)
    _handovers(rows, found, to)
    lost = ", ".join(sorted(missing))
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
            first = found.get(before if before == "baseline" else f"{before}:{step}", {})
            second = found.get(f"{after}:{step}", {})
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
        ratio = "1" if configuration == "written:pt4" else _times(faster(found, "written:pt4", configuration))
        print(f"| {title} | {_rate_and_cpu(row, ratio)} |", file=to)


def _handovers(rows: Mapping[tuple[str, str], ConfigurationFinding], found: Times, to: TextIO) -> None:
    print("\nPT1 by five hand-overs:\n", file=to)
    print(
        "| hand-over | records are | calls/s, thousands | times as fast as ArrayBlockingQueue | CPU per record, ns |",
        file=to,
    )
    print("| --- | --- | --: | --: | --: |", file=to)
    for form, title in HANDOVERS.items():
        for layer, name in {"queued": "thrown away behind it", "written": "sent over TCP"}.items():
            row = rows.get(("hand-over", f"{layer}:{form}"))
            ratio = "1" if form == "pt1" else _times(faster(found, f"{layer}:pt1", f"{layer}:{form}"))
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


def _counted(trials: Trials) -> Iterable[tuple[object, ...]]:
    for configuration, blocks in sorted(trials.items()):
        for block, of in blocks.items():
            for record in (trial.record for trial in of):
                promised = record.parameters.calls * DEPTH if configuration.startswith("written") else 0
                received = record.ledger.received if record.ledger else 0
                yield configuration, block, record.started_at, f"{service_mean(record):.6g}", promised, received


def main() -> None:
    """Read the run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    runs = [RunFolder(path) for path in options.runs]
    trials = undisturbed(runs)
    rows = [row for run in runs for row in run.findings.configurations if row.agent in AGENTS]
    write(with_throughput(rows, trials), times(trials), sys.stdout)
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("configuration", "block", "started_at", "call_ns", "records_expected", "records_received"))
            writer.writerows(_counted(trials))


if __name__ == "__main__":
    main()
