"""The run in one sentence of at most twenty words: what takes less CPU, what delays less, and what is a tie."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tracetax.analysis.statements import condition
from tracetax.model import FULL
from tracetax.report import numbers
from tracetax.report.kinds import TimeUnit, calls_itself, time_unit
from tracetax.report.views import (
    INDICATIVE_BELOW,
    Group,
    PartView,
    cpu,
    per_unit,
    promises,
    ranked_by,
    title_of,
    unit_of,
)
from tracetax.report.workloads import workload_tables
from tracetax.results.findings import BuildComparison, ConfigurationFinding, Findings, Measure
from tracetax.words import one

WORDS = 20
LEAST_UNIT = TimeUnit("µs", 1e3)
Cost = Literal["cpu", "overhead"]
COSTS: dict[Cost, tuple[str, str, str]] = {
    "cpu": ("takes {} CPU", "the {} CPU", "CPU"),
    "overhead": ("delays {}", "the {} delay", "delays"),
}
"""How a sentence says that a row has least of it, that rows share that, and what cannot be told apart."""
COMPARED = {"slower": "slower", "faster": "faster", "same": "no different", "undecided": "undecided"}


def verdict(findings: Findings, parts: Sequence[PartView]) -> str | None:
    """The run in one sentence: of two builds how they compare, otherwise what is cheapest; None where nothing is."""
    if findings.comparisons:
        return _of_builds(findings.comparisons)
    if across := _across(parts):
        return across
    view = head(parts)
    if view is None:
        return _nothing_delivers(parts)
    by = ranked_by(findings)
    rows = ranked_rows(view)
    delivers = view.groups.get(Group.DELIVERS, ())
    only = any(promises(row) and not any(row is other for other in delivers) for row in view.rows)
    sentences = list(_candidates(condition(view.part), _leads(rows, by), rows, only))
    return next((text for text in sentences if len(text.split()) <= WORDS), sentences[-1])


def _across(parts: Sequence[PartView]) -> str | None:
    """What the agent that is there for most of several workloads adds in each; None where there is one workload."""
    for table in workload_tables(parts):
        known = [
            [(head, row) for head, row in zip(table.heads, line.rows, strict=True) if row and row.rank is not None]
            for line in table.lines
        ]
        most = max(known, key=len) if known else []
        if len(most) > 1:
            (_, first), *_ = most
            view = next(view for view in parts if view.part.name == first.part)
            where = condition(replace(view.part, levels=""))
            if calls_itself(view.part):
                amounts = ", ".join(
                    f"{_limited(row, per_unit(row, 'overhead'))} {_unit(row).name} ({head})" for head, row in most
                )
                return f"{where}, {first.agent_name} delays {one(table.unit)} by {amounts}."
            amounts = ", ".join(
                f"{_limited(row, per_unit(row, 'cpu'))} {_unit(row).name} ({head})" for head, row in most
            )
            return f"{where}, {first.agent_name} takes {amounts} of CPU per {table.unit}."
    return None


def head(parts: Sequence[PartView]) -> PartView | None:
    """The part that the first sentence is of: the first at a rate in which something is ranked, else the first."""
    ranked = [view for view in parts if ranked_rows(view)]
    return next((view for view in ranked if view.part.parameters.rate != FULL), ranked[0] if ranked else None)


def ranked_rows(view: PartView) -> list[ConfigurationFinding]:
    """The rows of a part that have a rank, best first."""
    return [row for row in view.groups.get(Group.DELIVERS, ()) if row.rank is not None]


def place(row: ConfigurationFinding, cost: Cost, by: Cost) -> int | None:
    """A row's rank by a cost; None where it is not known. ``by`` is what ``rank`` follows."""
    return row.ranks.get(cost, row.rank if cost == by else None)


class _Lead(Struct, frozen=True):
    """Who comes first by one cost: one row, several that share it, or all, which then are not told apart."""

    cost: Cost
    first: tuple[ConfigurationFinding, ...]
    of: int

    @property
    def tied(self) -> bool:
        """Whether nobody comes first."""
        return len(self.first) == self.of


class _Style(Struct, frozen=True):
    """How much a sentence tells: names in full or by their keys, what numbers are per, and the numbers."""

    names: dict[int, str]
    per: str
    amounts: bool

    def name(self, row: ConfigurationFinding, cost: Cost) -> str:
        """A row's name; a delay that leaves the export out is marked."""
        return self.names[id(row)] + (" (deferred)" if cost == "overhead" and row.deferred else "")


def _leads(rows: Sequence[ConfigurationFinding], by: Cost) -> list[_Lead]:
    """Who comes first by each cost that is known of all rows; what the ranks follow leads."""
    leads: list[_Lead] = []
    for cost in sorted(COSTS, key=lambda cost: cost != by):
        places = [place(row, cost, by) for row in rows]
        known = [number for number in places if number is not None]
        if len(known) == len(rows) and all(_measure(row, cost) for row in rows):
            first = tuple(row for row, number in zip(rows, places, strict=True) if number == min(known))
            leads.append(_Lead(cost, first, len(rows)))
    return leads


def _candidates(where: str, leads: list[_Lead], rows: Sequence[ConfigurationFinding], only: bool) -> Iterator[str]:
    """The sentence as long as it may be, then ever shorter."""
    per = " per record" if any(row.records.truncated for row in rows) else f" per {unit_of(rows[0])}"
    ways = product(_namings(rows), ((per, True), ("", True), ("", False)))
    for style in (_Style(names, unit, amounts) for names, (unit, amounts) in ways):
        if len(rows) == 1:
            said = _alone(rows[0], [lead.cost for lead in leads], style, only)
        elif len(rows) == 2:
            said = _of_two(rows, leads, style)
        else:
            said = f"of {numbers.in_words(len(rows))}, {_of_many(leads, style)}"
        yield f"{where}, {said}."


def _namings(rows: Sequence[ConfigurationFinding]) -> list[dict[int, str]]:
    """Rows by their agents; where these do not tell them apart by titles, then by keys, which are short."""
    agents = [row.agent_name for row in rows]
    if len(set(agents)) == len(rows):
        return [{id(row): row.agent_name for row in rows}]
    same_agent = len(set(agents)) == 1
    titles = {id(row): title_of(row) if same_agent else f"{row.agent_name} ({title_of(row)})" for row in rows}
    keys: dict[int, str] = {}
    for row in rows:
        marks = "".join(f" [{mark}]" for mark in (row.build, row.backend) if mark)
        keys[id(row)] = row.configuration + marks if same_agent else f"{row.agent_name} {row.configuration}{marks}"
    return [titles, keys]


def _alone(row: ConfigurationFinding, costs: list[Cost], style: _Style, only: bool) -> str:
    name = style.names[id(row)] + (" (deferred)" if row.deferred else "")
    amounts = {"cpu": " of CPU", "overhead": " of delay"}
    told = [f"{_with_unit(row, _measure(row, cost))}{amounts[cost]}" for cost in costs]
    if only:
        return f"only {name} delivers every record: {', '.join(told)}{style.per}"
    verbs = {"cpu": "takes", "overhead": "adds"}
    pays = " and ".join(f"{verbs[cost]} {words}" for cost, words in zip(costs, told, strict=True))
    return f"{name} {pays}{style.per}"


def _of_two(rows: Sequence[ConfigurationFinding], leads: list[_Lead], style: _Style) -> str:
    won, tied = [lead for lead in leads if not lead.tied], [lead for lead in leads if lead.tied]
    names = [style.names[id(row)] for row in rows]
    if not won:
        both = "neither by CPU nor by delay" if len(tied) > 1 else f"by {_noun(tied[0].cost)}"
        return f"{' and '.join(names)} cannot be told apart{',' * (len(tied) > 1)} {both}"
    if len(won) == 2 and won[0].first == won[1].first:
        (winner,) = won[0].first
        (loser,) = (row for row in rows if row is not winner)
        told = (
            f"{_noun(lead.cost)} {_amount(winner, lead.cost)} against {_amount(loser, lead.cost)} {_unit(winner).name}"
            for lead in won
        )
        name = style.name(winner, "overhead")
        amounts = f": {', '.join(told)}{style.per}" if style.amounts else " in CPU and delay"
        return f"{name} costs less than {style.names[id(loser)]}{amounts}"
    clauses: list[str] = []
    for lead in won:
        (winner,) = lead.first
        (loser,) = (row for row in rows if row is not winner)
        values = f"{_amount(winner, lead.cost)} against {_amount(loser, lead.cost)} {_unit(winner).name}"
        amounts = f" ({values})" if style.amounts else ""
        clauses.append(
            f"{style.name(winner, lead.cost)} {_least(lead.cost, 'less')}{'' if clauses else style.per}{amounts}"
        )
    ties = "".join(f"; their {COSTS[lead.cost][2]} cannot be told apart" for lead in tied)
    return ", ".join(clauses) + ties


def _of_many(leads: list[_Lead], style: _Style) -> str:
    if all(lead.tied for lead in leads):
        by = "neither by CPU nor by delay" if len(leads) > 1 else f"not by {_noun(leads[0].cost)}"
        return f"none can be told apart, {by}"
    leaders = {tuple(map(id, lead.first)) for lead in leads}
    if len(leads) == 2 and len(leaders) == 1 and len(leads[0].first) == 1:
        (winner,) = leads[0].first
        does = " and ".join(_least(lead.cost, "least") for lead in leads)
        told = " and ".join(_amount(winner, lead.cost) for lead in leads)
        return f"{style.name(winner, 'overhead')} {does}" + (
            f": {told} {_unit(winner).name}{style.per}" if style.amounts else ""
        )
    clauses: list[str] = []
    per = style.per
    for lead in leads:
        values = ", ".join(_amount(row, lead.cost) for row in lead.first)
        amounts = f" ({values} {_unit(lead.first[0]).name})" if style.amounts else ""
        if lead.tied:
            clauses.append(f"{COSTS[lead.cost][2]} cannot be told apart")
        elif len(lead.first) > 2:
            clauses.append(f"{numbers.in_words(len(lead.first))} share {COSTS[lead.cost][1].format('least')}")
        else:
            names = " and ".join(style.name(row, lead.cost) for row in lead.first)
            does = (
                _least(lead.cost, "least") if len(lead.first) == 1 else f"share {COSTS[lead.cost][1].format('least')}"
            )
            clauses.append(f"{names} {does}{per}{amounts}")
            per = ""
    plain = all(len(lead.first) == 1 for lead in leads)
    return (", " if plain else "; ").join(clauses)


def _least(cost: Cost, degree: str) -> str:
    return COSTS[cost][0].format(degree)


def _noun(cost: Cost) -> str:
    return "CPU" if cost == "cpu" else "delay"


def _measure(row: ConfigurationFinding, cost: Cost) -> Measure | None:
    return cpu(row) if cost == "cpu" else per_unit(row, "overhead")


def _unit(row: ConfigurationFinding) -> TimeUnit:
    """The unit of its kind's tables, at least µs."""
    unit = time_unit(row)
    return unit if unit.nanoseconds > LEAST_UNIT.nanoseconds else LEAST_UNIT


def _amount(row: ConfigurationFinding, cost: Cost) -> str:
    """A cost in its row's unit with two digits; where none was shown, its upper limit."""
    return _limited(row, _measure(row, cost))


def _limited(row: ConfigurationFinding, of: Measure | None) -> str:
    """A time in its row's unit with two digits; where none was shown, its upper limit."""
    if of is None:
        return "–"
    if of.ci95 and of.ci95[0] <= 0:
        return f"≤{numbers.significant(_unit(row).of(max(0.0, of.ci95[1])))}"
    return numbers.significant(_unit(row).of(of.estimate))


def _with_unit(row: ConfigurationFinding, of: Measure | None) -> str:
    return f"{_limited(row, of)} {_unit(row).name}"


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
    counts = {word: sum(comparison.verdict == key for comparison in comparisons) for key, word in COMPARED.items()}
    every = "both" if len(comparisons) == 2 else f"all {numbers.in_words(len(comparisons))}"
    told = ", ".join(
        f"{word} in {every if count == len(comparisons) else numbers.in_words(count)}"
        for word, count in counts.items()
        if count
    )
    older, newer = comparisons[0].builds
    return f"{newer} against {older}, {numbers.in_words(len(comparisons))} comparisons: {told}."


def indicative(findings: Findings) -> str:
    """The sentence that a run of few blocks is no result yet; empty where it is one, or is meant to be none."""
    parts = findings.experiment.parts
    if not findings.experiment.result or not any(part.indicative for part in parts):
        return ""
    fewest = min(part.blocks for part in parts)
    return f"Indicative: {fewest} of the {INDICATIVE_BELOW} blocks (repetitions) that make a result."
