"""Lines through what was measured over a count, in words: what one more costs, and what is paid in any case."""

from collections.abc import Iterable

from tracetax.report import numbers
from tracetax.results.findings import GrowthFinding, MeasureName, PublishedLineValue
from tracetax.words import listed_words

FURTHER = {"depth": "each further invocation", "start_up_monitored": "each further monitored method"}
COUNTED = {"depth": "invocations per call", "start_up_monitored": "monitored methods"}
OF: dict[MeasureName, str] = {
    "service_time": "time of a call",
    "overhead": "overhead of a call",
    "cpu": "CPU of a call, less the baselines'",
    "startup_first_call_added": "added to start to first call",
    "build_time_added": "added to the build",
    "build_cpu_added": "added to the build's CPU",
}
PRINTED_DIGITS = 4
NOTES = {
    "bent": "bent",
    "lost-records": "records missing",
}
MEANINGS = (
    "A line is fitted in each block, by least squares; slope and intercept have 95 % intervals over blocks. Bent: the "
    "means follow a curve, by more than chance explains; the plot shows how much. R² is that of the means."
)


def counted_words(line: GrowthFinding) -> str:
    """Over what the line goes: ``invocations per call, 2 to 128 (JDK 21)``."""
    levels = f" ({line.levels})" if line.levels else ""
    return f"{COUNTED[line.factor]}, {line.values[0]:,g} to {line.values[-1]:,g}{levels}"


def notes(line: GrowthFinding) -> str:
    """What belongs to the numbers of a line; often empty."""
    remarks = [NOTES[label] for label in line.slope.labels if label in NOTES]
    if "truncated" in line.slope.labels:
        cut = listed_words([f"{value:,g}" for value in line.cut]) if line.cut else ""
        remarks.append(f"calls cut by the agent{f' at {cut}' if cut else ''}")
    return ", ".join(remarks)


def printed_title(printed: PublishedLineValue) -> str:
    """What stands before a printed line: ``as printed, AMD Ryzen 7 5700G``."""
    return f"as printed{f', {printed.platform}' if printed.platform else ''}"


def printed_cells(printed: PublishedLineValue) -> tuple[str, str, str]:
    """Slope, intercept and R² of a printed line, as those of a measured one are shown."""
    r_squared = "–" if printed.r_squared is None else f"{printed.r_squared:g}"
    slope, intercept = (numbers.duration(cost, PRINTED_DIGITS) for cost in (printed.slope, printed.intercept))
    return slope, intercept, r_squared


def r_squared(line: GrowthFinding) -> str:
    """R² to the second digit, or to as many as it takes not to round it up to 1."""
    if line.r_squared is None:
        return "–"
    decimals = next((places for places in range(2, 7) if round(line.r_squared, places) < 1), 6)
    return f"{line.r_squared:.{decimals}f}"


def by_kind(lines: Iterable[GrowthFinding]) -> list[tuple[GrowthFinding, ...]]:
    """Lines over the same parts' counts through the same cost, the flattest first."""
    groups: dict[tuple[object, ...], list[GrowthFinding]] = {}
    for line in lines:
        groups.setdefault((line.factor, line.parts, line.slope.name), []).append(line)
    return [tuple(sorted(group, key=lambda line: line.slope.estimate)) for group in groups.values()]
