"""When did which gain arrive in Kieker? Decides that of a run of `kieker-history`, and what the paper of 2014 says.

    PYTHONPATH=src .venv/bin/python -m benchmarks.kieker_history RUN [--csv FILE] [--plot FILE.svg]

RUN is the run's folder; Maven's jars are those in Tracetax's cache. It prints Markdown. From one release to the next, a
line becomes cheaper or dearer where the whole 95 % interval of the ratio of overheads lies beyond 5 %. The ratio is
that of the same blocks, by Fieller (1954). The paper is Waller, Fittkau, Hasselbring (SSP 2014); its tunings:

    PT1  caching: went in          confirmed: the record becomes cheaper after 1.8, up to 1.12, and does not become
                                   dearer; refuted: the paper's gain lies outside the interval from 1.8 to 1.12
    PT2  the Disruptor: went in    refuted: no later release holds it. The queue that came instead: confirmed where it
                                   hands over cheaper than the old one in the same release
    PT3  flat records: did not     confirmed: the probe makes a record object in every release
    PT4  no interfaces: did not    confirmed: the probe calls interfaces in every release
"""

import argparse
import csv
import os
import struct
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TextIO
from zipfile import ZipFile

from benchmarks.verdicts import Verdict, write_verdicts
from msgspec import Struct

from tracetax.analysis.findings import build
from tracetax.analysis.growth import overhead_by_block
from tracetax.artifacts.cache import cache_dir
from tracetax.artifacts.maven import fetch
from tracetax.model import Agent
from tracetax.report.page.html import Markup, h
from tracetax.report.page.releases import drawing, release_lines, titles_of
from tracetax.report.views import overhead, views
from tracetax.results.blocks import configuration_cells, whole_blocks
from tracetax.results.folder import RunFolder
from tracetax.statistics.fieller import ratio_of_means
from tracetax.statistics.intervals import Estimate

AGENT = "kieker-history"
MARGIN = 0.05
"""Of a ratio of overheads: what is smaller is no step."""
LAYERS = ("deactivated", "no writer", "queue", "TCP")
OTHER_QUEUE = ", ArrayBlockingQueue"
FIRST, PAPERS_NEXT = "1.8", ("1.9", "1.10", "1.12")
"""The release that the paper begins with, and those with the same writers that came after its tunings."""
PAPERS_PT1 = 11.44 / (1e3 / 63.2 - 1e3 / 757.6)
"""Time of collecting after PT1 over that before, µs: sections 4.2 and 4.5 of the paper."""
PROBE = "kieker/monitoring/probe/aspectj/operationExecution/AbstractOperationExecutionAspect.class"
SIGNATURES = "kieker/monitoring/probe/aspectj/AbstractAspectJProbe.class"
RECORD = "kieker/common/record/controlflow/OperationExecutionRecord"
SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of a constant of a class file behind its tag, by tag (JVMS 4.4); of text (1) they are told."""

Key = tuple[str, str]
"""A line, and a release on it."""
ByBlock = Mapping[int, float]
"""Overhead per invocation, ns, by block."""


class Held(Struct, frozen=True):
    """What the classes of a release hold."""

    disruptor: bool
    """A class of the Disruptor."""
    jctools: bool
    """JCTools' queue for several producers and one consumer."""
    caches_signatures: bool
    """The probe's text of a method is kept in a map."""
    makes_records: bool
    """The probe makes an object for every record."""
    calls_interfaces: bool
    """The probe calls methods of interfaces."""


class Step(Struct, frozen=True):
    """From one release to the next, on one line."""

    line: str
    before: str
    after: str
    ratio: Estimate | None
    """Overhead of the later over that of the earlier."""

    @property
    def said(self) -> str:
        """What the ratio's interval says."""
        if self.ratio is None or self.ratio.ci95 is None:
            return "not known"
        low, high = self.ratio.ci95
        return "cheaper" if high < 1 - MARGIN else "dearer" if low > 1 + MARGIN else "no step shown"


def constants(data: bytes) -> tuple[set[str], bool]:
    """The texts in a class file's pool of constants, and whether it calls a method of an interface."""
    (count,) = struct.unpack_from(">H", data, 8)
    texts: set[str] = set()
    calls, at, entry = False, 10, 1
    while entry < count:
        tag = data[at]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, at + 1)
            texts.add(data[at + 3 : at + 3 + length].decode("utf-8", "replace"))
            at += 3 + length
        else:
            at += 1 + SIZES[tag]
        calls |= tag == 11
        entry += 2 if tag in (5, 6) else 1
    return texts, calls


def held(jar: Path) -> Held:
    """What the classes in a release's jar hold."""
    with ZipFile(jar) as archive:
        names = archive.namelist()
        probe, calls = constants(archive.read(PROBE))
        signatures, _ = constants(archive.read(SIGNATURES))
    return Held(
        disruptor=any("disruptor" in name.lower() for name in names),
        jctools="org/jctools/queues/MpscArrayQueue.class" in names,
        caches_signatures="java/util/concurrent/ConcurrentHashMap" in signatures,
        makes_records=RECORD in probe,
        calls_interfaces=calls,
    )


def overheads(folder: RunFolder, agent: Agent) -> dict[Key, ByBlock]:
    """Overhead per invocation by block, by line and release."""
    blocks = whole_blocks(folder.records())
    found: dict[Key, ByBlock] = {}
    for part in folder.manifest.experiment.parts:
        for use, cell in configuration_cells(blocks, part.name).items():
            release = agent.configurations[use.configuration].release if use.agent == AGENT else None
            if release:
                depth = getattr(part.parameters, "depth", 1)
                by_block = {block: ns / depth for block, ns in overhead_by_block(blocks, cell).items()}
                found[release.line, agent.version_in(use.configuration)] = by_block
    return found


def compared(of: ByBlock | None, to: ByBlock | None) -> Estimate | None:
    """The ratio of two rows' overheads over the blocks that both have; None where it has no bounds."""
    shared = sorted((of or {}).keys() & (to or {}).keys())
    if not of or not to or not shared:
        return None
    return ratio_of_means([of[block] for block in shared], [to[block] for block in shared])


def steps(found: Mapping[Key, ByBlock], releases: Iterable[str]) -> list[Step]:
    """From each release to the next, on every line that has both."""
    return [
        Step(line, before, after, compared(found.get((line, after)), found.get((line, before))))
        for line in LAYERS
        for before, after in pairwise(releases)
    ]


def handed(found: Mapping[Key, ByBlock], release: str, queue: str = "") -> ByBlock | None:
    """What handing a record over costs in each block: through the queue, less without."""
    through, without = found.get((f"queue{queue}", release)), found.get(("no writer", release))
    if through is None or without is None:
        return None
    return {block: through[block] - without[block] for block in through.keys() & without.keys()}


def decided(found: Mapping[Key, ByBlock], classes: Mapping[str, Held]) -> list[Verdict]:
    """What the paper says of its four tunings, and the queue that came instead of the second one."""
    later = [one for release, one in classes.items() if release != FIRST]
    objects = sum(one.makes_records for one in classes.values())
    calling = sum(one.calls_interfaces for one in classes.values())
    every = len(classes)
    return [
        _pt1(found, classes),
        Verdict(
            "PT2",
            "the Disruptor goes in",
            "refuted" if later and not any(one.disruptor for one in later) else "undecided",
            f"{sum(one.disruptor for one in later)} of {len(later)} releases after {FIRST} hold a class of it; "
            f"{sum(one.jctools for one in later)} hold JCTools' queue",
        ),
        _queue(found, "1.13"),
        _queue(found, "2.0.2"),
        Verdict(
            "PT3",
            "flat records do not go in",
            "confirmed" if objects == every else "refuted",
            f"the probe makes a record object in {objects} of {every} releases",
        ),
        Verdict(
            "PT4",
            "minimal code does not go in",
            "confirmed" if calling == every else "refuted",
            f"the probe calls interfaces in {calling} of {every} releases",
        ),
    ]


def _pt1(found: Mapping[Key, ByBlock], classes: Mapping[str, Held]) -> Verdict:
    says = "caching goes in"
    made = [release for release in (FIRST, *PAPERS_NEXT) if ("no writer", release) in found]
    line = [step for step in steps(found, made) if step.line == "no writer"]
    whole = compared(found.get(("no writer", PAPERS_NEXT[-1])), found.get(("no writer", FIRST)))
    cached = FIRST in classes and classes[FIRST].caches_signatures
    if whole is None or whole.ci95 is None:
        return Verdict("PT1", says, "not comparable", "the record's cost is not known in both")
    because = (
        f"a record in {PAPERS_NEXT[-1]} costs {_told(whole)} of one in {FIRST}; the paper's gain is {PAPERS_PT1:.2f}"
    )
    because += f". The probe of {FIRST} {'caches' if cached else 'does not cache'} signatures already"
    said = {step.said for step in line}
    if "cheaper" in said and "dearer" not in said:
        return Verdict("PT1", says, "confirmed", because)
    return Verdict("PT1", says, "refuted" if whole.ci95[0] > PAPERS_PT1 else "undecided", because)


def _queue(found: Mapping[Key, ByBlock], release: str) -> Verdict:
    says = f"the other queue of {release} hands over cheaper than ArrayBlockingQueue"
    ratio = compared(handed(found, release), handed(found, release, OTHER_QUEUE))
    tcp = compared(found.get(("TCP", release)), found.get((f"TCP{OTHER_QUEUE}", release)))
    if ratio is None or ratio.ci95 is None:
        return Verdict("PT2", says, "not comparable", "handing over is not known of both")
    because = f"handing over costs {_told(ratio)} of that with the old queue; over TCP all is {_told(tcp)}"
    verdict = "confirmed" if ratio.ci95[1] < 1 else "refuted" if ratio.ci95[0] > 1 else "undecided"
    return Verdict("PT2", says, verdict, because)


def _told(ratio: Estimate | None) -> str:
    if ratio is None or ratio.ci95 is None:
        return "–"
    return f"{ratio.mean:.2f} ({ratio.ci95[0]:.2f} to {ratio.ci95[1]:.2f})"


def write(found: Mapping[Key, ByBlock], classes: Mapping[str, Held], to: TextIO) -> None:
    """The steps, what the classes hold, and what is decided, as Markdown."""
    print("| | " + " | ".join(LAYERS) + " |\n| --- |" + " --: |" * len(LAYERS), file=to)
    every = [*steps(found, classes), *steps(found, (next(iter(classes)), list(classes)[-1]))]
    for before, after in dict.fromkeys((one.before, one.after) for one in every):
        cells = [next(s for s in every if (s.line, s.before, s.after) == (line, before, after)) for line in LAYERS]
        shown = [
            f"**{one.said}** {_told(one.ratio)}" if one.said in ("cheaper", "dearer") else _told(one.ratio)
            for one in cells
        ]
        print(f"| {before} → {after} | " + " | ".join(shown) + " |", file=to)
    fields = Held.__struct_fields__
    print("\n| release | " + " | ".join(field.replace("_", " ") for field in fields) + " |", file=to)
    print("| --- |" + " --- |" * len(fields), file=to)
    for release, one in classes.items():
        print(
            f"| {release} | " + " | ".join("yes" if getattr(one, field) else "no" for field in fields) + " |", file=to
        )
    write_verdicts(decided(found, classes), to, "tuning")


STYLE = """text { font: 12px sans-serif; fill: #555; } .grid { stroke: #ddd; } .zero { stroke: #888; }
.curve { fill: none; stroke-width: 2; stroke: #222; } .c1 { stroke: #0b62a4; }
.c2 { stroke: #b35900; stroke-dasharray: 7 4; }
.c3 { stroke: #3a7d34; stroke-dasharray: 2 4; } .c4 { stroke: #8a4fb0; stroke-dasharray: 9 3 2 3; }
.c5 { stroke: #777; stroke-dasharray: 1 3; } .whisker { stroke: #222; } .mark { fill: #222; stroke: #fff; }
.missing { fill: #fff; stroke: #222; } .back { fill: #fff; }"""
WIDTH, HEIGHT, LEFT, TOP, ROW = 900, 470, 60, 90, 20


def plot(folder: RunFolder) -> str:
    """The plot of the overhead as a picture of its own."""
    lines = [line for view in views(build(folder)) for line in release_lines(view)]
    key: list[Markup] = []
    for place, title in enumerate(titles_of(lines)):
        x, y = LEFT + place % 3 * 270, 44 + place // 3 * ROW
        key.append(h("line", x1=x, x2=x + 34, y1=y - 4, y2=y - 4, class_=f"curve c{place}"))
        key.append(h("text", title, x=x + 42, y=y))
    inner = drawing("overhead per invocation, ns", overhead, lines)
    placed = h("svg", inner, x=LEFT, y=TOP, width=WIDTH - LEFT - 20, height=HEIGHT - TOP - 40, overflow="visible")
    whole = h(
        "svg",
        h("style", Markup(STYLE)),
        h("rect", width="100%", height="100%", class_="back"),
        h(
            "text",
            "Overhead per invocation, ns, over the days of Kieker's releases; bars: 95 % intervals",
            x=LEFT,
            y=20,
        ),
        key,
        Markup(placed.replace('class="curves', 'overflow="visible" class="curves')),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
    )
    return whole + "\n"


def main() -> None:
    """Read the run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    folder = RunFolder(options.run)
    agent = folder.manifest.agents[AGENT]
    found = overheads(folder, agent)
    dated = sorted((one for one in agent.artifacts.values() if one.released), key=lambda one: one.released)
    classes = {one.version: held(fetch(one, cache_dir(os.environ))) for one in dated}
    write(found, classes, sys.stdout)
    if options.plot:
        options.plot.write_text(plot(folder), encoding="utf-8")
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("line", "release", "released", "block", "overhead_ns"))
            days = {one.version: one.released for one in dated}
            for (line, release), by_block in found.items():
                writer.writerows((line, release, days[release], block, f"{ns:.6g}") for block, ns in by_block.items())


if __name__ == "__main__":
    main()
