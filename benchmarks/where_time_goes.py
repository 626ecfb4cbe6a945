"""Where a run's time went, by stage and configuration, from what its trials recorded.

    .venv/bin/python benchmarks/where_time_goes.py RUN

Stages of a trial: start-up (process start until the driver is ready), warm-up (until the first measured call), calls,
drain (until the last record), end (samples written, the JVM's ordinary end); and what lies between one JVM's end and
the next one's start: dirty pages written back, samples reduced, the trial kept, a fresh sink.
"""

import argparse
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord

STAGES = ("start-up", "warm-up", "calls", "drain", "end", "between")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    records = RunFolder(parser.parse_args().run).records()
    spent: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    trials: dict[str, int] = defaultdict(int)
    for record in records:
        trials[label(record)] += 1
        for stage, seconds in stages(record).items():
            spent[label(record)][stage] += seconds
    for record, following in pairwise(records):
        if following.moments.spawned > record.moments.exited > 0:
            spent[label(record)]["between"] += (following.moments.spawned - record.moments.exited) / 1e9
    whole = sum(sum(by_stage.values()) for by_stage in spent.values())
    print(f"{len(records)} trials, {whole / 60:.1f} min; seconds per trial:")
    print(f"{'':34}{'trials':>7}" + "".join(f"{stage:>10}" for stage in STAGES) + f"{'share':>8}")
    for name, by_stage in sorted(spent.items()):
        cells = "".join(f"{by_stage[stage] / trials[name]:>10.2f}" for stage in STAGES)
        print(f"{name:34}{trials[name]:>7}{cells}{sum(by_stage.values()) / whole:>8.0%}")
    totals = "".join(f"{sum(by_stage[stage] for by_stage in spent.values()) / whole:>10.0%}" for stage in STAGES)
    print(f"{'share of the whole':34}{'':>7}{totals}")
    return 0


def label(record: TrialRecord) -> str:
    """The trial's row."""
    extra = " (memory)" if record.cell.role == "memory" else ""
    return f"{record.cell.part[:10]} {record.cell.use.agent} {record.cell.use.configuration}{extra}"


def stages(record: TrialRecord) -> dict[str, float]:
    """Seconds of each stage that the trial reached."""
    m = record.moments
    marks = [m.spawned, m.ready, m.first_call, m.last_call, m.drained, m.exited]
    return {
        stage: (end - start) / 1e9
        for stage, (start, end) in zip(STAGES, pairwise(marks), strict=False)
        if start and end > start
    }


if __name__ == "__main__":
    sys.exit(main())
