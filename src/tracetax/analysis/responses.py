"""Sentences on what tracing costs the answers of a service, and on whether they stay below what was asked."""

from tracetax.analysis.measures import FEWEST_BEYOND
from tracetax.analysis.statements import condition, name_of, row_key, two_digits
from tracetax.kinds import declaration_of
from tracetax.results.findings import (
    ConfigurationFinding,
    Findings,
    Measure,
    MeasureName,
    PartFinding,
    Statement,
    find_measure,
)
from tracetax.service import Objective
from tracetax.words import listed_words, one

UNKNOWN = "is not known"
LOPSIDED = 1.5
"""How much further an interval may reach on one side for ± to be shown."""
MB = 1e6
MS = 1e6
TIMES: tuple[tuple[str, MeasureName], ...] = (
    ("the median response time", "response_time_median_added"),
    ("its p99", "response_time_p99_added"),
)
QUANTILES: dict[str, MeasureName] = {
    "median": "response_time_median",
    "p90": "response_time_p90",
    "p99": "response_time_p99",
    "p99_9": "response_time_p99_9",
}


def response_statements(findings: Findings) -> tuple[Statement, ...]:
    """What an agent adds to the answers of a service, a sentence for each row; then each part's objective."""
    told: list[Statement] = []
    for part in findings.experiment.parts:
        if declaration_of(part.parameters).calls_itself:
            continue
        rows = [row for row in findings.configurations if row.part == part.name]
        told += [statement for row in rows if (statement := _added(part, row))]
        if findings.experiment.objective:
            told.append(_objective(part, rows, findings.experiment.objective))
    return tuple(told)


def _added(part: PartFinding, row: ConfigurationFinding) -> Statement | None:
    """What a row adds to median and p99, to the CPU of a request, and to memory."""
    times = [(words, measure) for words, name in TIMES if (measure := find_measure(row, name))]
    ratio = find_measure(row, "cpu_ratio")
    if not times and not ratio:
        return None
    clauses = [f"{_amount(measure, MS, 'ms')} to {words}" for words, measure in times]
    started = find_measure(row, "overhead", "call")
    if started and not declaration_of(row.parameters).warms_up(row.parameters):
        clauses.append(f"{_amount(started, MS, 'ms')} to the start until the first answer")
    if ratio:
        noun = declaration_of(row.parameters).noun
        clauses.append(f"{_percent(ratio)} to the CPU of {one(noun)}")
    if memory := find_measure(row, "rss_peak_added"):
        clauses.append(f"{_amount(memory, MB, 'MB')} of memory")
    text = f"{condition(part)}, {name_of(row)} adds {listed_words(clauses)}{_records(row)}."
    return Statement(id=f"{row_key(row).replace('/', '-')}-adds", text=text, rests_on=(row_key(row),))


def _records(row: ConfigurationFinding) -> str:
    """How many records it makes of a request, where that is known."""
    requests = row.records.calls
    if not row.records.expected or not requests:
        return ""
    each, noun = row.records.expected / requests, declaration_of(row.parameters).noun
    return f"; it makes {each:.3g} {'record' if each == 1 else 'records'} of {one(noun)}"


def _objective(part: PartFinding, rows: list[ConfigurationFinding], objective: Objective) -> Statement:
    """Whether the objective holds with and without each agent, by the intervals over blocks."""
    judged: dict[str, list[str]] = {}
    for row in rows:
        verdict, value = _judged(row, objective)
        who = "without an agent" if row.cell.is_baseline else f"with {name_of(row)}"
        judged.setdefault(verdict, []).append(who + value)
    text = f"{condition(part)}, {objective.text} " + "; ".join(
        f"{verdict} {listed_words(names)}" for verdict, names in judged.items()
    )
    if UNKNOWN in judged:
        calls = part.parameters.calls
        text += f": of {calls:,} requests in a trial fewer than {FEWEST_BEYOND} lie beyond it (--calls)"
    text += "."
    return Statement(id=f"{part.name}-objective", text=text, rests_on=tuple(map(row_key, rows)))


def _judged(row: ConfigurationFinding, objective: Objective) -> tuple[str, str]:
    """What is said of a row's objective, and the value that it is said for."""
    measure = find_measure(row, QUANTILES[objective.quantile])
    if measure is None:
        return UNKNOWN, ""
    value = f" ({_amount(measure, MS, 'ms')})"
    if measure.ci95 is None:
        return "cannot be judged by one block", value
    low, high = measure.ci95
    if high < objective.limit_ns:
        return "holds", value
    return ("does not hold" if low >= objective.limit_ns else "is undecided"), value


def _amount(of: Measure, unit: float, name: str) -> str:
    """An amount with its half-width, or its interval where that is lopsided; an upper limit where none was shown."""
    return _told(of.estimate / unit, tuple(limit / unit for limit in of.ci95) if of.ci95 else None, f" {name}")


def _percent(ratio: Measure) -> str:
    """A ratio as what it adds, in per cent."""
    limits = tuple((limit - 1) * 100 for limit in ratio.ci95) if ratio.ci95 else None
    return _told((ratio.estimate - 1) * 100, limits, " %")


def _told(value: float, limits: tuple[float, ...] | None, unit: str) -> str:
    if limits is None:
        return f"{_signed(value)}{unit}"
    low, high = limits
    if low <= 0 <= high:
        return f"at most {two_digits(high)}{unit}"
    up, down = high - value, value - low
    if max(up, down) > LOPSIDED * min(up, down):
        return f"{_signed(value)}{unit} [{_signed(low)}, {_signed(high)}]"
    half = (high - low) / 2
    return f"{_signed(value, half)} ± {two_digits(half)}{unit}"


def _signed(value: float, like: float | None = None) -> str:
    return two_digits(value, like=like).replace("-", "−")
