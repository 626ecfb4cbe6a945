"""Sets a run of `nou25-functions` beside the thesis's Tables 4.2 and 4.3, and decides MF4.1 to MF4.5 by rules.

    PYTHONPATH=src .venv/bin/python -m benchmarks.nou25_functions RUN [--use by-hand-simple]

RUN is the folder of the run. It prints Markdown. Times are those inside the function, the thesis's "benchmark time".

    MF4.1  every function got slower, and short ones pay most in relative terms: each 95 % interval of what is added
           lies above 0, and the shortest function of each language has the largest share added
    MF4.2  graph-pagerank pays little in relative terms and much in absolute ones: under 10 % by its whole interval, and
           more than the shortest function
    MF4.3  the longer, the smaller the share: Spearman's correlation of duration and share over all ten, one-sided 5 %
    MF4.4  the share is usually larger in Node than in Python: in at least four of the five functions
    MF4.5  in absolute terms both pay similar amounts: within a factor of two of each other in at least four of the five
    export dominates, in each language: of what is added to dynamic-html span by span, more than half is not added by
           the batch processor, which exports later; the interval of the one lies above twice that of the other. It is
           decided of the time inside the function, as above, and of the client's: an export that does not wait is no
           part of the one, and keeps the next invocation waiting
"""

import argparse
import csv
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO, cast

import msgspec
from benchmarks.verdicts import Verdict, write_verdicts
from msgspec import Struct
from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

from tracetax.kinds.functions import FunctionParameters
from tracetax.model import language_of
from tracetax.results.findings import Findings, Measure, find_measure

PUBLISHED = Path(__file__).resolve().parents[1] / "published" / "001_table4_3_python_vs_nodejs.csv"
TOGETHER = PUBLISHED.with_name("001_table4_2_serverless_latency.csv")
FUNCTIONS: tuple[str, ...] = ("dynamic-html", "uploader", "thumbnailer", "video-processing", "graph-pagerank")
LANGUAGES = {"python": "Python", "node": "Node.js"}
HEAVY, SHORT = "graph-pagerank", "dynamic-html"
LITTLE, SIMILAR, MOST, CHANCE = 0.1, 2.0, 4, 0.05
BOTH_PROCESSORS = ("by-hand-simple", "by-hand")
"""Configurations that export each span at once, and in batches later."""
MS = 1e6
Key = tuple[str, str]
"""Function and language."""


class Inside(Struct, frozen=True):
    """Time inside a function without an agent, and what is added, ns; None where it is not known."""

    without: Measure | None
    added: Measure | None
    client: Measure | None
    client_added: Measure | None
    expected: int
    received: int

    @property
    def share(self) -> float | None:
        """What is added, as a share of the time without."""
        return self.added.estimate / self.without.estimate if self.added and self.without else None


def insides(findings: Findings, use: str) -> dict[Key, Inside]:
    """By function and language, of one configuration."""
    languages = {part.name: language_of(part.workload) for part in findings.experiment.parts}
    baselines = {row.part: row for row in findings.configurations if row.is_baseline}
    found: dict[Key, Inside] = {}
    for row in findings.configurations:
        if row.configuration == use and isinstance(row.parameters, FunctionParameters):
            base = baselines[row.part]
            found[row.parameters.function, languages[row.part]] = Inside(
                without=find_measure(base, "inside_time"),
                added=find_measure(row, "inside_time_added"),
                client=find_measure(base, "service_time"),
                client_added=find_measure(row, "overhead", "call"),
                expected=row.records.expected,
                received=row.records.received,
            )
    return found


def decided(found: Mapping[Key, Inside]) -> list[Verdict]:
    """The thesis's findings on functions, each by its rule; not comparable where numbers are missing."""
    return [_slower(found), _heavy(found), _longer(found), _more_in_node(found), _similar(found)]


def _complete(found: Mapping[Key, Inside]) -> bool:
    keys = ((name, language) for name in FUNCTIONS for language in LANGUAGES)
    return all(key in found and found[key].share is not None for key in keys)


def _shortest(found: Mapping[Key, Inside], language: str) -> str:
    return min(FUNCTIONS, key=lambda name: found[name, language].without.estimate)  # pyright: ignore[reportOptionalMemberAccess]


def _largest(found: Mapping[Key, Inside], language: str) -> str:
    """The function with the largest share added."""
    return max(FUNCTIONS, key=lambda name: found[name, language].share or 0.0)


def _slower(found: Mapping[Key, Inside]) -> Verdict:
    says = "every function got slower, and short ones pay most in relative terms"
    known = [one.added.ci95 for one in found.values() if one.added and one.added.ci95]
    above, below = sum(low > 0 for low, _ in known), sum(high < 0 for _, high in known)
    because = f"{above} of {len(known)} intervals lie above 0, {below} below"
    if not _complete(found):
        return Verdict("MF4.1", says, "not comparable", because)
    most = {language: _largest(found, language) for language in LANGUAGES}
    told = ", ".join(f"{name} in {LANGUAGES[language]}" for language, name in most.items())
    because += f"; the largest share is added to {told}"
    if below:
        return Verdict("MF4.1", says, "contradicted", because)
    short = all(most[language] == _shortest(found, language) for language in LANGUAGES)
    return Verdict("MF4.1", says, "confirmed" if short and above == len(found) else "undecided", because)


def _heavy(found: Mapping[Key, Inside]) -> Verdict:
    says = f"{HEAVY} pays little in relative terms and much in absolute ones"
    if not _complete(found):
        return Verdict("MF4.2", says, "not comparable", "numbers are missing")
    told: list[str] = []
    holds: list[bool | None] = []
    for language, title in LANGUAGES.items():
        own, short = found[HEAVY, language], found[_shortest(found, language), language]
        assert own.added and own.without and short.added
        told.append(
            f"{title} {own.share:+.1%}, {own.added.estimate / MS:+.1f} ms beside {short.added.estimate / MS:+.1f}"
        )
        if own.added.ci95 is None:
            holds.append(None)
        elif own.added.ci95[0] / own.without.estimate > LITTLE or own.added.ci95[1] < short.added.estimate:
            holds.append(False)
        else:
            little = own.added.ci95[1] / own.without.estimate < LITTLE
            holds.append(True if little and own.added.ci95[0] > short.added.estimate else None)
    outcome = "confirmed" if all(holds) else "contradicted" if False in holds else "undecided"
    return Verdict("MF4.2", says, outcome, "; ".join(told))


def _longer(found: Mapping[Key, Inside]) -> Verdict:
    says = "the longer a function, the smaller its relative cost"
    if not _complete(found):
        return Verdict("MF4.3", says, "not comparable", "numbers are missing")
    pairs = [(one.without.estimate, one.share) for one in found.values() if one.without and one.share is not None]
    durations, shares = zip(*pairs, strict=True)
    spearman = cast("Any", stats.spearmanr)  # pyright: ignore[reportUnknownMemberType]
    less = spearman(durations, shares, alternative="less")
    more = spearman(durations, shares, alternative="greater")
    because = f"Spearman's correlation over {len(pairs)} is {less.statistic:.2f} (p = {less.pvalue:.3f}, one-sided)"
    outcome = "confirmed" if less.pvalue <= CHANCE else "contradicted" if more.pvalue <= CHANCE else "undecided"
    return Verdict("MF4.3", says, outcome, because)


def _of_five(finding: str, says: str, holds: Mapping[str, bool], what: str) -> Verdict:
    count = sum(holds.values())
    names = ", ".join(name for name, is_so in holds.items() if not is_so) or "none"
    outcome = "confirmed" if count >= MOST else "contradicted" if count <= len(holds) - MOST else "undecided"
    return Verdict(finding, says, outcome, f"{what} in {count} of {len(holds)}; not in {names}")


def _more_in_node(found: Mapping[Key, Inside]) -> Verdict:
    says = "the relative cost is usually higher in Node.js than in Python"
    if not _complete(found):
        return Verdict("MF4.4", says, "not comparable", "numbers are missing")
    holds = {f: (found[f, "node"].share or 0.0) > (found[f, "python"].share or 0.0) for f in FUNCTIONS}
    return _of_five("MF4.4", says, holds, "higher in Node.js")


def _similar(found: Mapping[Key, Inside]) -> Verdict:
    says = "in absolute terms Python and Node.js pay similar amounts"
    if not _complete(found):
        return Verdict("MF4.5", says, "not comparable", "numbers are missing")
    holds: dict[str, bool] = {}
    for name in FUNCTIONS:
        both = [of.estimate for language in LANGUAGES if (of := found[name, language].added)]
        holds[name] = min(both) > 0 and max(both) <= SIMILAR * min(both)
    return _of_five("MF4.5", says, holds, "within a factor of two")


def export_dominates(simple: Mapping[Key, Inside], batch: Mapping[Key, Inside]) -> list[Verdict]:
    """Whether exporting is most of what is added to the shortest function span by span, in each language.

    By language the verdict on the time inside the function, and that on the client's.
    """
    verdicts: list[Verdict] = []
    for language, title in LANGUAGES.items():
        now, later = (of.get((SHORT, language)) for of in (simple, batch))
        inside = (now and now.added, later and later.added)
        client = (now and now.client_added, later and later.client_added)
        verdicts += [_mostly_export(f"{title}, inside", *inside), _mostly_export(f"{title}, client", *client)]
    return verdicts


def _mostly_export(where: str, now: Measure | None, later: Measure | None) -> Verdict:
    says = "exporting is most of what tracing adds"
    if not (now and now.ci95 and later and later.ci95):
        return Verdict(f"export, {where}", says, "not comparable", "intervals are missing")
    because = f"{SHORT}: span by span {_ms(now)} ms, in batches {_ms(later)} ms"
    most, less = now.ci95[0] > 2 * later.ci95[1], now.ci95[1] < 2 * later.ci95[0]
    return Verdict(f"export, {where}", says, "confirmed" if most else "contradicted" if less else "undecided", because)


def published() -> dict[tuple[str, str, str], float]:
    """Table 4.3 by function, language and metric: the time without an agent, ms, and the share added, per cent."""
    names = {title: language for language, title in LANGUAGES.items()}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        return {
            (row["workload"], names[row["stack"]], row["metric"]): float(row["value"]) for row in csv.DictReader(file)
        }


def published_together() -> dict[tuple[str, str, bool], float]:
    """Table 4.2 by function, metric and whether it was traced: means over both languages, ms."""
    with TOGETHER.open(encoding="utf-8", newline="") as file:
        return {
            (row["workload"], row["metric"], row["configuration"] == "instrumented"): float(row["value"])
            for row in csv.DictReader(file)
            if row["statistic"] == "mean"
        }


def write_together(found: Mapping[Key, Inside], to: TextIO) -> None:
    """The means of both languages, half of each, as Table 4.2 has them. Nothing where one is missing."""
    thesis = published_together()
    print("\nBoth languages together, means without and with tracing, ms; the thesis's in brackets:\n", file=to)
    print("| function | inside, without | inside, with | client, without | client, with |", file=to)
    print("| --- | --: | --: | --: | --: |", file=to)
    for name in FUNCTIONS:
        both = [found[key] for language in LANGUAGES if (key := (name, language)) in found]
        pairs = [[(of.without, of.added), (of.client, of.client_added)] for of in both]
        cells: list[str] = []
        for place, metric in enumerate(("benchmark_time", "client_time")):
            known = [(own.estimate, more.estimate) for pair in pairs for own, more in [pair[place]] if own and more]
            for traced in (False, True):
                ours = sum(own + more * traced for own, more in known) / len(LANGUAGES) / MS
                told = f"{ours:,.2f}" if len(known) == len(LANGUAGES) else "–"
                cells.append(f"{told} ({thesis[name, metric, traced]:,.2f})")
        print(f"| {name} | {' | '.join(cells)} |", file=to)


def write(found: Mapping[Key, Inside], to: TextIO) -> None:
    """The tables and what is decided, as Markdown."""
    thesis = published()
    print("Time inside the function without an agent, and what is added, ms; the thesis's beside:\n", file=to)
    print(
        "| function | language | without | added | share | thesis: without | share | client, added | records |", file=to
    )
    print("| --- | --- | --: | --: | --: | --: | --: | --: | --: |", file=to)
    for name in FUNCTIONS:
        for language, title in LANGUAGES.items():
            one = found.get((name, language))
            cells = ["–"] * 3
            if one:
                share = "–" if one.share is None else f"{one.share:+.1%}"
                cells = [_ms(one.without), _ms(one.added), share]
            their = thesis[name, language, "benchmark_time"], thesis[name, language, "benchmark_time_increase"]
            more = [_ms(one.client_added), f"{one.received:,} of {one.expected:,}"] if one else ["–", "–"]
            row = [name, title, *cells, f"{their[0]:,.2f}", f"{their[1]:+.1f} %", *more]
            print(f"| {' | '.join(row)} |", file=to)
    write_together(found, to)
    write_verdicts(decided(found), to)


def _ms(of: Measure | None) -> str:
    if of is None:
        return "–"
    if of.ci95 is None:
        return f"{of.estimate / MS:.2f}"
    return f"{of.estimate / MS:.2f} ({of.ci95[0] / MS:.2f} to {of.ci95[1] / MS:.2f})"


def main() -> None:
    """Print the tables and what is decided."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--use", default="by-hand-simple")
    asked = parser.parse_args()
    findings = msgspec.json.decode((asked.run / "findings.json").read_bytes(), type=Findings)
    write(insides(findings, asked.use), sys.stdout)
    write_verdicts(export_dominates(*(insides(findings, use) for use in BOTH_PROCESSORS)), sys.stdout, "statement")


if __name__ == "__main__":
    main()
