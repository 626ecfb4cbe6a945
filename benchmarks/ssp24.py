"""Sets a run of `ssp24-cloudprofiler` beside what the paper states of Cloudprofiler, and decides that by rules.

    PYTHONPATH=src .venv/bin/python -m benchmarks.ssp24 RUN

RUN is the folder of the run. It prints Markdown. Times are those of a call of ten nested methods, the method's own
included, as the paper's are. A ratio is one of means over the same blocks, with Fieller's 95 % interval.

    CP1  the order of the bars: null handler, buffered ones, non-buffered one. The ratios of each buffered one to the
         null handler, and of the non-buffered one to each buffered one, say so: all intervals above 1
    CP2  compressing takes the caller no time: the ratios to the plain buffered handler lie between 0.95 and 1.05
    CP3  Zstandard is 6.15 times as fast as the non-buffered handler: the interval holds 6.15
    CP4  Kieker takes more than every buffered handler: all intervals above 1
    CP5  the used heap varies least with the handlers: the largest of their starts is below the least of Kieker's
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from benchmarks.verdicts import Verdict, write_verdicts

from tracetax.results.blocks import whole_blocks
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord
from tracetax.statistics.fieller import ratio_of_means
from tracetax.statistics.intervals import Estimate, t_interval

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "published" / "004_text_figures.csv"
NULL, UNBUFFERED = "null", "unbuffered"
BUFFERED = ("buffered", "zstd", "lzo1x")
KIEKERS = ("binary-tcp", "binary-file")
BARS = {
    NULL: "(2) null handler",
    UNBUFFERED: "",
    "buffered": "(4) buffered and binary-encoded ID handler",
    "zstd": "(5) buffered and ZSTD-compressed ID handler",
    "lzo1x": "(6) buffered and LZO1X-compressed ID handler",
    "binary-tcp": "",
    "binary-file": "",
}
"""By configuration, the bar of the paper's figure, where its text prints a number."""
COLUMNS = (
    "time of a call, µs",
    "paper",
    "CPU of all threads per record, with the method's own, ns",
    "records",
    "bytes on disk or wire per record",
    "variation of the used heap, largest",
    "collections, most",
)
EQUAL = (0.95, 1.05)
"""What counts as equal: the paper's 2.294 and 2.28 µs are within 1 %, which no start here is."""
SPEEDUP = "(5) buffered ID handler, ZSTD vs (3) non-buffered ID handler"

Trials = Mapping[str, Mapping[int, TrialRecord]]
"""By configuration and block, those that count."""


def trials_of(records: Iterable[TrialRecord]) -> Trials:
    """The good trials of whole blocks."""
    found: dict[str, dict[int, TrialRecord]] = {}
    for block, cells in whole_blocks(records).items():
        for cell, trial in cells.items():
            if cell.role == "configuration" and trial.status == "ok" and trial.service:
                found.setdefault(cell.use.configuration, {})[block] = trial
    return found


def ratio(trials: Trials, slower: str, faster: str) -> Estimate | None:
    """How many times as long a call takes; None where there are no two blocks with both."""
    both = sorted(trials.get(slower, {}).keys() & trials.get(faster, {}).keys())
    if len(both) < 2:
        return None
    return ratio_of_means(*([_time(trials[name][block]) for block in both] for name in (slower, faster)))


def decided(trials: Trials) -> list[Verdict]:
    """The paper's statements, each by its rule; not comparable where trials are missing."""
    return [_order(trials), _compressing(trials), _speedup(trials), _kieker(trials), _heap(trials)]


def _order(trials: Trials) -> Verdict:
    pairs = [(name, NULL) for name in BUFFERED] + [(UNBUFFERED, name) for name in BUFFERED]
    says = "null handler < buffered handlers < non-buffered handler"
    return _by_ratios("CP1", says, trials, pairs, above=(1.0, 1.0))


def _compressing(trials: Trials) -> Verdict:
    says = "compressing takes the caller no time"
    ratios = {name: ratio(trials, name, BUFFERED[0]) for name in BUFFERED[1:]}
    because = ", ".join(f"{name} ÷ {BUFFERED[0]} {_words(one)}" for name, one in ratios.items())
    intervals = [one.ci95 if one else None for one in ratios.values()]
    known = [interval for interval in intervals if interval]
    if len(known) < len(ratios):
        return Verdict("CP2", says, "not comparable", because)
    least, most = EQUAL
    if any(low > most or high < least for low, high in known):
        return Verdict("CP2", says, "refuted", because)
    inside = all(low >= least and high <= most for low, high in known)
    return Verdict("CP2", says, "confirmed" if inside else "undecided", because)


def _speedup(trials: Trials) -> Verdict:
    printed = published()[SPEEDUP]
    says = f"with Zstandard {printed:g} times as fast as non-buffered"
    one = ratio(trials, UNBUFFERED, "zstd")
    if one is None or one.ci95 is None:
        return Verdict("CP3", says, "not comparable", "it was not measured in two blocks")
    low, high = one.ci95
    return Verdict("CP3", says, "confirmed" if low <= printed <= high else "refuted", f"here {_words(one)}")


def _kieker(trials: Trials) -> Verdict:
    pairs = [(kieker, name) for kieker in KIEKERS for name in BUFFERED]
    return _by_ratios("CP4", "Kieker takes more than each buffered handler", trials, pairs, above=(1.0, 1.0))


def _heap(trials: Trials) -> Verdict:
    says = "the used heap varies least with the handlers"
    ours = _variations(trials, (NULL, UNBUFFERED, *BUFFERED))
    kiekers = _variations(trials, KIEKERS)
    if not ours or not kiekers:
        return Verdict("CP5", says, "not comparable", "the variation is not known of both")
    because = f"handlers {100 * min(ours):.1f} to {100 * max(ours):.1f} %, Kieker {100 * min(kiekers):.1f} to "
    because += f"{100 * max(kiekers):.1f} %"
    if max(ours) < min(kiekers):
        return Verdict("CP5", says, "confirmed", because)
    return Verdict("CP5", says, "refuted" if min(ours) > max(kiekers) else "undecided", because)


def _by_ratios(
    statement: str, says: str, trials: Trials, pairs: Sequence[tuple[str, str]], above: tuple[float, float]
) -> Verdict:
    """Confirmed where all intervals lie above the second bound, refuted where one lies below the first."""
    ratios = {pair: ratio(trials, *pair) for pair in pairs}
    because = ", ".join(f"{slower} ÷ {faster} {_words(one)}" for (slower, faster), one in ratios.items())
    intervals = [one.ci95 if one else None for one in ratios.values()]
    known = [interval for interval in intervals if interval]
    if any(high < above[0] for _, high in known):
        return Verdict(statement, says, "refuted", because)
    if len(known) < len(pairs):
        return Verdict(statement, says, "not comparable", because)
    return Verdict(statement, says, "confirmed" if all(low > above[1] for low, _ in known) else "undecided", because)


def _time(trial: TrialRecord) -> float:
    assert trial.service
    return trial.service.mean


def _variations(trials: Trials, names: Iterable[str]) -> list[float]:
    every = [trial.heap for name in names for trial in trials.get(name, {}).values()]
    return [heap.cv for heap in every if heap and heap.cv is not None]


def published() -> dict[str, float]:
    """What the paper's text prints of Cloudprofiler by configuration: times in µs, and the ratio."""
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["agent"] == "Cloudprofiler" and row["configuration"]]
    return {row["configuration"]: float(row["value"]) for row in rows}


def write(trials: Trials, to: TextIO) -> None:
    """The table of the bars and what is decided, as Markdown."""
    printed = published()
    print(f"| | {' | '.join(COLUMNS)} |", file=to)
    print("| --- |" + " --: |" * len(COLUMNS), file=to)
    for name, bar in BARS.items():
        own = [trial for _, trial in sorted(trials.get(name, {}).items())]
        if own:
            print(f"| {name} | " + " | ".join(_cells(own, printed.get(bar))) + " |", file=to)
    write_verdicts(decided(trials), to, "statement")


def _cells(own: Sequence[TrialRecord], printed: float | None) -> Iterable[str]:
    received = sum(trial.ledger.received for trial in own if trial.ledger)
    expected = sum(trial.ledger.expected for trial in own if trial.ledger)
    yield _plus_minus([_time(trial) / 1e3 for trial in own], 3)
    yield f"{printed:g}" if printed else "–"
    cpu = [
        trial.cpu.to_drained.total / trial.ledger.received
        for trial in own
        if trial.cpu and trial.ledger and trial.ledger.received
    ]
    yield _plus_minus(cpu, 0) if cpu else "–"
    yield f"{received:,} of {expected:,}" if expected else "–"
    size = [trial.ledger.bytes / trial.ledger.received for trial in own if trial.ledger and trial.ledger.received]
    yield f"{sum(size) / len(size):.1f}" if size else "–"
    heaps = [trial.heap for trial in own if trial.heap]
    variations = [heap.cv for heap in heaps if heap.cv is not None]
    yield f"{100 * max(variations):.1f} %" if variations else "–"
    yield f"{max(heap.collections for heap in heaps)}" if heaps else "–"


def _plus_minus(values: Sequence[float], digits: int) -> str:
    of = t_interval(values)
    half = f" ± {(of.ci95[1] - of.ci95[0]) / 2:.{digits}f}" if of.ci95 else ""
    return f"{of.mean:,.{digits}f}{half}"


def _words(one: Estimate | None) -> str:
    if one is None or one.ci95 is None:
        return "unknown"
    return f"{one.mean:.2f} ({one.ci95[0]:.2f} to {one.ci95[1]:.2f})"


def main() -> None:
    """Read the run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    write(trials_of(RunFolder(parser.parse_args().run).records()), sys.stdout)


if __name__ == "__main__":
    main()
