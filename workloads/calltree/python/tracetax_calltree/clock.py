"""What the clock can tell apart and what reading it costs."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from time import perf_counter_ns

READS = 200_000
LONGEST_NS = 1 << 16
NOTEWORTHY = 0.01
ROUNDED = 2


def measure() -> dict[str, float]:
    """The tick, and the mean time of one read, both ns."""
    reads = [perf_counter_ns() for _ in range(READS + 1)]
    differences = Counter(after - before for before, after in pairwise(reads))
    return {"resolution_ns": tick(differences, READS), "read_ns": (reads[-1] - reads[0]) / READS}


def tick(differences: Mapping[int, int], reads: int) -> float:
    """The smallest step between differences that occur, ns.

    Two neighbouring values count as one: the conversion from cycles rounds. Three in a row cannot come of that, so the
    clock tells nanoseconds apart. Rare values do not count. A step that does not divide the differences is none.
    """
    means: list[float] = []
    frequent = sorted(d for d, n in differences.items() if 0 <= d < LONGEST_NS and n > reads * NOTEWORTHY / 10)
    while frequent:
        group = [frequent.pop(0)]
        while frequent and frequent[0] == group[-1] + 1:
            group.append(frequent.pop(0))
        count = sum(differences[value] for value in group)
        if count < reads * NOTEWORTHY:
            continue
        if len(group) > 2:
            return 1.0
        means.append(sum(value * differences[value] for value in group) / count)
    steps = [after - before for before, after in pairwise(means)]
    if not steps:
        return 1.0
    smallest = min(steps)
    if any(abs(mean - round(mean / smallest) * smallest) > ROUNDED for mean in means):
        return 1.0
    return float(round(smallest))
