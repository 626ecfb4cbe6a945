"""What a stored run says under other code: every number, label and rank that differs.

    python benchmarks/rereport.py RUN OLD_SRC [--judge-again] [--least 0.001]

RUN is a run folder; it is read and never written. OLD_SRC is the ``src`` of another clone of Tracetax, whose findings
of the same trials stand in the column *before*; those of this clone stand in *after*. ``--judge-again`` also finds the
steady part of every trial anew from its stored bins, as this clone would have when it was measured. ``--least`` is the
smallest relative change of an estimate or of an end of an interval that is listed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from msgspec.structs import replace

from tracetax.results.folder import RunFolder, write_json
from tracetax.workloads.driver_output import durations_when_steady

BUILD = """
import sys
from pathlib import Path
import msgspec
from tracetax.analysis.findings import build
from tracetax.results.folder import RunFolder
sys.stdout.buffer.write(msgspec.json.encode(build(RunFolder(Path(sys.argv[1])))))
"""
SOURCE = Path(__file__).parent.parent / "src"
NAMES = ("agent", "configuration", "build", "backend", "heap_bytes")
Row = dict[str, Any]


def main() -> None:
    """Compare, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("old_src", type=Path)
    parser.add_argument("--judge-again", action="store_true")
    parser.add_argument("--least", type=float, default=0.001)
    asked = parser.parse_args()
    before = findings(asked.run, asked.old_src)
    if asked.judge_again:
        with tempfile.TemporaryDirectory() as scratch:
            after = findings(judged_again(asked.run, Path(scratch)), SOURCE)
    else:
        after = findings(asked.run, SOURCE)
    lines = list(changes(before, after, asked.least))
    numbers = sum(len(row["measures"]) for row in before["configurations"])
    print(f"{len(lines)} changes among the {numbers} numbers of {asked.run.name} and their labels and ranks.\n")
    print("| part | row | what | before | after | change |\n| --- | --- | --- | --- | --- | --- |")
    for line in lines:
        print(f"| {' | '.join(line)} |")


def findings(run: Path, source: Path) -> Row:
    """The findings of a run's trials by the code under ``source``."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    command = [sys.executable, "-c", BUILD, str(run)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: Row = json.loads(done.stdout)
    return found


def judged_again(run: Path, scratch: Path) -> Path:
    """A copy of the run's manifest and records whose steady parts are those that this clone finds."""
    copy = scratch / run.name
    copy.mkdir()
    (copy / "manifest.json").write_bytes((run / "manifest.json").read_bytes())
    for record in RunFolder(run).records():
        folder = run / "trials" / f"{record.number:04d}"
        if record.steady is not None:
            steady, durations = durations_when_steady(
                pl.read_parquet(folder / "series.parquet"),
                pl.read_parquet(folder / "distributions.parquet"),
                record.clock_resolution_ns or 0.0,
            )
            record = replace(record, steady=steady, **durations)
        (copy / "trials" / folder.name).mkdir(parents=True)
        write_json(copy / "trials" / folder.name / "record.json", record)
    return copy


def changes(before: Row, after: Row, least: float) -> Iterator[tuple[str, ...]]:
    """Part, row, what differs, before, after, by how much; what only one of the two has, too."""
    old, new = by_name(before), by_name(after)
    for key in dict.fromkeys((*old, *new)):
        part, row, what = key
        one, other = old.get(key), new.get(key)
        if change := difference(one, other, least):
            yield part, row, what, shown(one), shown(other), change


def by_name(found: Row) -> dict[tuple[str, str, str], Row]:
    """Measures and ranks (0 for none) by part, row, and what it is."""
    result: dict[tuple[str, str, str], Row] = {}
    for row in found["configurations"]:
        name = " ".join(str(row[part]) for part in NAMES if row[part])
        result[row["part"], name, "rank"] = {"estimate": row["rank"] or 0, "ci95": None, "labels": []}
        for measure in row["measures"]:
            per = f" per {measure['per']}" if measure["per"] else ""
            result[row["part"], name, f"{measure['name']}{per}, {measure['unit']}"] = measure
    return result


def difference(one: Row | None, other: Row | None, least: float) -> str:
    """By how much two measures differ, in words; empty where they do not."""
    if one is None or other is None:
        return "new" if one is None else "gone"
    parts: list[str] = []
    if relative(one["estimate"], other["estimate"]) > least:
        ratio = other["estimate"] / one["estimate"] - 1 if one["estimate"] else float("inf")
        parts.append(f"{ratio:+.1%}")
    ends = [each["ci95"] or (each["estimate"],) * 2 for each in (one, other)]
    if any(relative(a, b) > least for a, b in zip(*ends, strict=True)) or (one["ci95"] is None) != (
        other["ci95"] is None
    ):
        wide = [high - low for low, high in ends]
        parts.append(f"width × {wide[1] / wide[0]:.2f}" if wide[0] else "width")
    if sorted(one["labels"]) != sorted(other["labels"]):
        parts.append("labels")
    return ", ".join(parts)


def relative(a: float, b: float) -> float:
    """The distance of two numbers in the larger of the two."""
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def shown(measure: Row | None) -> str:
    """A measure with its interval and labels."""
    if measure is None:
        return "–"
    interval = f" [{measure['ci95'][0]:.4g}, {measure['ci95'][1]:.4g}]" if measure["ci95"] else ""
    labels = f" ({', '.join(measure['labels'])})" if measure["labels"] else ""
    return f"{measure['estimate']:.4g}{interval}{labels}"


if __name__ == "__main__":
    main()
