"""What rows say of times and builds, in the words that every report shares."""

from collections.abc import Sequence

from tracetax.report import numbers
from tracetax.report.views import half_width, is_baseline, measure
from tracetax.results.findings import ConfigurationFinding, Measure


def building(row: ConfigurationFinding) -> str | None:
    """What building the program took, or what was added to that of the baselines; None where no trial built any."""
    if is_baseline(row):
        wall, used, says = measure(row, "build_time"), measure(row, "build_cpu"), "building the program takes"
    else:
        wall, used, says = measure(row, "build_time_added"), measure(row, "build_cpu_added"), "added to the build:"
    return f"{says} {duration(wall)}, {duration(used)} of CPU" if wall and used else None


def duration(measured: Measure, of: float = 0.0) -> str:
    """A time with its half-width and the unit that fits it, or that fits the largest ``of`` several times."""
    estimate, margin, unit = numbers.measured_duration(measured.estimate, half_width(measured), of)
    return f"{estimate} ± {margin} {unit}" if margin else f"{estimate} {unit}"


def slow_share(rows: Sequence[ConfigurationFinding]) -> list[str]:
    """What share of slow starts is possible where none was seen in any row; those with slow ones have notes."""
    known = [row.starts for row in rows if row.starts]
    if not known or len(known) < len(rows) or any(starts.slow for starts in known):
        return []
    fewest = min(known, key=lambda starts: starts.starts)
    upper = f"{100 * fewest.upper:.2g} %"
    return [f"none of {fewest.starts} starts was slow: with 95 % confidence fewer than {upper} are"]
