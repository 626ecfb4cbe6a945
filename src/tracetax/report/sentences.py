"""The answer in words: the verdict in one sentence, and what a service that is traced pays."""

from collections.abc import Sequence

from tracetax.analysis.statements import condition
from tracetax.model import FULL
from tracetax.report import numbers
from tracetax.report.views import (
    Group,
    PartView,
    cpu,
    half_width,
    is_baseline,
    measure,
    overhead,
    ranked_by,
    title_of,
)
from tracetax.results.findings import BuildComparison, ConfigurationFinding, Findings, Measure

TRACED_METHODS = 100
"""Per request, in the sentence for a service's owner; requests then follow from the rate that was measured."""
NAMED = 4
"""Rows that a sentence names; of more only the first and the last."""
COMPARED = {"slower": "slower", "faster": "faster", "same": "no different", "undecided": "undecided"}


def verdict(findings: Findings, parts: Sequence[PartView]) -> str | None:
    """The run in one sentence: of two builds how they compare, otherwise what is cheapest; None where nothing is."""
    if findings.comparisons:
        return _of_builds(findings.comparisons)
    ranked = [(view, rows) for view in parts if (rows := ranked_rows(view))]
    if not ranked:
        return _nothing_delivers(parts)
    view, rows = next(((view, rows) for view, rows in ranked if view.part.parameters.rate != FULL), ranked[0])
    by_cpu = ranked_by(findings) == "cpu"
    where, first, last = condition(view.part), rows[0], rows[-1]
    if len(rows) == 1:
        return f"{where}, one delivers every record: {name(first)}, at {_price(first, by_cpu, True)}."
    tied = [row for row in rows if row.rank == first.rank]
    amount = numbers.in_words(len(rows))
    if len(tied) == len(rows):
        prices = "; ".join(f"{name(row)} {_price(row, by_cpu, row is first)}" for row in (first, last))
        return f"{where}, the {amount} that deliver every record cannot be told apart: {prices}."
    least = "costs least CPU" if by_cpu else "adds least to a call"
    if len(tied) > 1:
        best = f"{', '.join(map(name, tied[:-1]))} and {name(tied[-1])} share the first place"
    else:
        best = f"{name(first)} {least}"
    alike = sum(row.rank == last.rank for row in rows)
    most = "shares the last place" if alike > 1 else "costs most" if by_cpu else "adds most"
    return (
        f"{where}, {best} of the {amount} that deliver every record: {_price(first, by_cpu, True)}; "
        f"{name(last)} {most}: {_price(last, by_cpu, False)}."
    )


def name(row: ConfigurationFinding) -> str:
    """An agent with its configuration, as sentences call it."""
    return f"{row.agent_name} ({title_of(row)})"


def ranked_rows(view: PartView) -> list[ConfigurationFinding]:
    """The rows of a part that have a rank, best first."""
    return [row for row in view.groups.get(Group.DELIVERS, ()) if row.rank is not None]


def _price(row: ConfigurationFinding, by_cpu: bool, spelled: bool) -> str:
    added, charged = overhead(row), measure(row, "cpu", "invocation") or cpu(row)
    per_invocation, per_record = (" added to a traced invocation", " of CPU per record") if spelled else ("", "")
    call = f"{_time(added)}{per_invocation}" if added else ""
    charge = f"{_time(charged)}{per_record}" if charged else ""
    price = " and ".join(text for text in ((charge, call) if by_cpu else (call, charge)) if text)
    return price + (" (most records arrive after the last call)" if row.deferred else "")


def _time(of: Measure) -> str:
    value, margin = numbers.measured(of.estimate, half_width(of))
    return f"{value} ± {margin} ns" if margin else f"{value} ns"


def _nothing_delivers(parts: Sequence[PartView]) -> str | None:
    groups = (Group.DROPS, Group.LOST)
    view = next((view for view in parts if any(group in view.groups for group in groups)), None)
    if view is None:
        return None
    count = sum(len(view.groups.get(group, ())) for group in groups)
    who = "the one configuration" if count == 1 else f"none of the {count} configurations"
    does = "does not deliver every record" if count == 1 else "delivers every record"
    return f"{condition(view.part)}, {who} that should record everything {does}; nothing is ranked."


def _of_builds(comparisons: Sequence[BuildComparison]) -> str:
    if len(comparisons) == 1:
        return comparisons[0].text
    counts = {word: sum(one.verdict == key for one in comparisons) for key, word in COMPARED.items()}
    every = "both" if len(comparisons) == 2 else f"all {numbers.in_words(len(comparisons))}"
    told = ", ".join(
        f"{word} in {every if count == len(comparisons) else numbers.in_words(count)}"
        for word, count in counts.items()
        if count
    )
    older, newer = comparisons[0].builds
    return f"{newer} against {older}, {numbers.in_words(len(comparisons))} comparisons: {told}."


def building(row: ConfigurationFinding) -> str | None:
    """What building the program took, or what was added to that of the baselines; None where no trial built any."""
    if is_baseline(row):
        wall, used, says = measure(row, "build_time"), measure(row, "build_cpu"), "building the program takes"
    else:
        wall, used, says = measure(row, "build_time_added"), measure(row, "build_cpu_added"), "added to the build:"
    return f"{says} {duration(wall)}, {duration(used)} of CPU" if wall and used else None


def duration(of: Measure) -> str:
    """A time with its half-width and the unit that fits."""
    estimate, margin, unit = numbers.measured_duration(of.estimate, half_width(of))
    return f"{estimate} ± {margin} {unit}" if margin else f"{estimate} {unit}"


def service(parts: Sequence[PartView]) -> str | None:
    """What a service pays at exactly the rate that was measured, in time per request and share of a core."""
    view = next((view for view in parts if view.part.parameters.rate != FULL and _told(view)), None)
    if view is None or view.part.parameters.rate == FULL:
        return None
    per_second = view.part.parameters.rate * view.part.parameters.depth
    methods = TRACED_METHODS if per_second >= TRACED_METHODS else view.part.parameters.depth
    requests = per_second / methods
    rows = _told(view)
    shown = rows if len(rows) <= NAMED else [rows[0], rows[-1]]
    prices = [f"{_pays(row, methods, per_second, row is rows[0])} with {name(row)}" for row in shown]
    between = f" ({len(rows) - len(shown)} others lie between)" if len(rows) > NAMED else ""
    return (
        f"A service with {methods} traced methods per request at {requests:,.4g} requests/s pays "
        f"{'; '.join(prices)}{between}."
    )


def _told(view: PartView) -> list[ConfigurationFinding]:
    return [row for row in view.groups.get(Group.DELIVERS, ()) if overhead(row)]


def _pays(row: ConfigurationFinding, methods: int, per_second: float, spelled: bool) -> str:
    """Time per request and share of a core, ``spelled`` out once; where no cost was shown, at most how much."""
    added, charged = overhead(row), cpu(row)
    texts: list[str] = []
    request, core = (" per request", " of a core") if spelled else ("", "")
    if added:
        estimate, margin, least = added.estimate * methods, half_width(added), added.ci95
        if least and least[0] <= 0:
            texts.append(f"at most {numbers.duration(max(0.0, least[1] * methods), 2)}{request}")
        else:
            value, width, unit = numbers.measured_duration(estimate, None if margin is None else margin * methods)
            texts.append((f"{value} ± {width} {unit}" if width else f"{value} {unit}") + request)
    if charged:
        to_percent = per_second / 1e9 * 100
        margin = half_width(charged)
        if charged.ci95 and charged.ci95[0] <= 0:
            texts.append(f"at most {numbers.significant(max(0.0, charged.ci95[1] * to_percent))} %{core}")
        else:
            value, width = numbers.fine(charged.estimate * to_percent, None if margin is None else margin * to_percent)
            texts.append((f"{value} ± {width} %" if width else f"{value} %") + core)
    return " and ".join(texts)
