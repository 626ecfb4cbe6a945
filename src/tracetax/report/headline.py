"""The run in one sentence of at most twenty words: what takes less CPU, what delays less, and what is a tie."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal

from msgspec import Struct

from tracetax.analysis.statements import condition
from tracetax.model import FULL
from tracetax.report import numbers
from tracetax.report.views import Group, PartView, measure, promises, ranked_by, title_of
from tracetax.results.findings import BuildComparison, ConfigurationFinding, Findings, Measure

WORDS = 20
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
    view = head(parts)
    if view is None:
        return _nothing_delivers(parts)
    by = ranked_by(findings)
    rows = ranked_rows(view)
    only = len([row for row in view.rows if promises(row)]) > len(rows)
    sentences = list(_candidates(condition(view.part), _places(rows, by), rows, only))
    return next((text for text in sentences if len(text.split()) <= WORDS), sentences[-1])


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


class _Place(Struct, frozen=True):
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


def _places(rows: Sequence[ConfigurationFinding], by: Cost) -> list[_Place]:
    """Who comes first by each cost that is known of all rows; what the ranks follow leads."""
    found: list[_Place] = []
    for cost in sorted(COSTS, key=lambda cost: cost != by):
        places = [place(row, cost, by) for row in rows]
        known = [number for number in places if number is not None]
        if len(known) == len(rows) and all(_measure(row, cost) for row in rows):
            first = tuple(row for row, number in zip(rows, places, strict=True) if number == min(known))
            found.append(_Place(cost, first, len(rows)))
    return found


def _candidates(where: str, places: list[_Place], rows: Sequence[ConfigurationFinding], only: bool) -> Iterator[str]:
    """The sentence as long as it may be, then ever shorter."""
    per = " per record" if any(row.records.truncated for row in rows) else " per invocation"
    ways = product(_namings(rows), ((per, True), ("", True), ("", False)))
    for style in (_Style(names, unit, amounts) for names, (unit, amounts) in ways):
        if len(rows) == 1:
            said = _alone(rows[0], [found.cost for found in places], style, only)
        elif len(rows) == 2:
            said = _of_two(rows, places, style)
        else:
            said = f"of {numbers.in_words(len(rows))}, {_of_many(places, style)}"
        yield f"{where}, {said}."


def _namings(rows: Sequence[ConfigurationFinding]) -> list[dict[int, str]]:
    """Rows by their agents; where these do not tell them apart by titles, then by keys, which are short."""
    agents = [row.agent_name for row in rows]
    if len(set(agents)) == len(rows):
        return [{id(row): row.agent_name for row in rows}]
    one = len(set(agents)) == 1
    titles = {id(row): title_of(row) if one else f"{row.agent_name} ({title_of(row)})" for row in rows}
    keys: dict[int, str] = {}
    for row in rows:
        marks = "".join(f" [{mark}]" for mark in (row.build, row.backend) if mark)
        keys[id(row)] = row.configuration + marks if one else f"{row.agent_name} {row.configuration}{marks}"
    return [titles, keys]


def _alone(row: ConfigurationFinding, costs: list[Cost], style: _Style, only: bool) -> str:
    name = style.names[id(row)] + (" (deferred)" if row.deferred else "")
    amounts = {"cpu": " of CPU", "overhead": " of delay"}
    told = [f"{_amount(row, cost)} µs{amounts[cost]}" for cost in costs]
    if only:
        return f"only {name} delivers every record: {', '.join(told)}{style.per}"
    verbs = {"cpu": "takes", "overhead": "adds"}
    pays = " and ".join(f"{verbs[cost]} {words}" for cost, words in zip(costs, told, strict=True))
    return f"{name} {pays}{style.per}"


def _of_two(rows: Sequence[ConfigurationFinding], places: list[_Place], style: _Style) -> str:
    won, tied = [one for one in places if not one.tied], [one for one in places if one.tied]
    names = [style.names[id(row)] for row in rows]
    if not won:
        both = "neither by CPU nor by delay" if len(tied) > 1 else f"by {_noun(tied[0].cost)}"
        return f"{' and '.join(names)} cannot be told apart{',' * (len(tied) > 1)} {both}"
    if len(won) == 2 and won[0].first == won[1].first:
        (winner,) = won[0].first
        (loser,) = (row for row in rows if row is not winner)
        told = (f"{_noun(one.cost)} {_amount(winner, one.cost)} against {_amount(loser, one.cost)} µs" for one in won)
        name = style.name(winner, "overhead")
        amounts = f": {', '.join(told)}{style.per}" if style.amounts else " in CPU and delay"
        return f"{name} costs less than {style.names[id(loser)]}{amounts}"
    clauses: list[str] = []
    for one in won:
        (winner,) = one.first
        (loser,) = (row for row in rows if row is not winner)
        amounts = f" ({_amount(winner, one.cost)} against {_amount(loser, one.cost)} µs)" if style.amounts else ""
        clauses.append(
            f"{style.name(winner, one.cost)} {_least(one.cost, 'less')}{'' if clauses else style.per}{amounts}"
        )
    ties = "".join(f"; their {COSTS[one.cost][2]} cannot be told apart" for one in tied)
    return ", ".join(clauses) + ties


def _of_many(places: list[_Place], style: _Style) -> str:
    if all(one.tied for one in places):
        by = "neither by CPU nor by delay" if len(places) > 1 else f"not by {_noun(places[0].cost)}"
        return f"none can be told apart, {by}"
    leaders = {tuple(map(id, one.first)) for one in places}
    if len(places) == 2 and len(leaders) == 1 and len(places[0].first) == 1:
        (winner,) = places[0].first
        does = " and ".join(_least(one.cost, "least") for one in places)
        told = " and ".join(_amount(winner, one.cost) for one in places)
        return f"{style.name(winner, 'overhead')} {does}" + (f": {told} µs{style.per}" if style.amounts else "")
    clauses: list[str] = []
    per = style.per
    for one in places:
        values = ", ".join(_amount(row, one.cost) for row in one.first)
        amounts = f" ({values} µs)" if style.amounts else ""
        if one.tied:
            clauses.append(f"{COSTS[one.cost][2]} cannot be told apart")
        elif len(one.first) > 2:
            clauses.append(f"{numbers.in_words(len(one.first))} share {COSTS[one.cost][1].format('least')}")
        else:
            names = " and ".join(style.name(row, one.cost) for row in one.first)
            does = _least(one.cost, "least") if len(one.first) == 1 else f"share {COSTS[one.cost][1].format('least')}"
            clauses.append(f"{names} {does}{per}{amounts}")
            per = ""
    plain = all(len(one.first) == 1 for one in places)
    return (", " if plain else "; ").join(clauses)


def _least(cost: Cost, degree: str) -> str:
    return COSTS[cost][0].format(degree)


def _noun(cost: Cost) -> str:
    return "CPU" if cost == "cpu" else "delay"


def _measure(row: ConfigurationFinding, cost: Cost) -> Measure | None:
    return measure(row, "cpu", "record") if cost == "cpu" else measure(row, "overhead", "invocation")


def _amount(row: ConfigurationFinding, cost: Cost) -> str:
    """A cost in µs with two digits; where none was shown, its upper limit."""
    of = _measure(row, cost)
    if of is None:
        return "–"
    if of.ci95 and of.ci95[0] <= 0:
        return f"≤{numbers.significant(max(0.0, of.ci95[1]) / 1e3)}"
    return numbers.significant(of.estimate / 1e3)


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
