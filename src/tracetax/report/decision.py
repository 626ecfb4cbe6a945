"""What a choice hangs on, agents side by side: cost, memory, start, delivery. Terminal, page and Markdown share it."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from tracetax.analysis.statements import condition
from tracetax.model import FULL
from tracetax.report import numbers
from tracetax.report.headline import Cost, head, place
from tracetax.report.kinds import call_noun, charged_words, overhead_words, teller_of
from tracetax.report.views import (
    Group,
    PartView,
    added_time,
    cpu,
    half_width,
    measure,
    overhead,
    per_unit,
    ranked_by,
    unit_of,
    units_of_call,
)
from tracetax.results.findings import ConfigurationFinding, Findings, Measure, MeasureName, PartFinding

ROOM = 6
"""Configurations that stand side by side; of more, those that cost least."""
CLEAR = 0.05
"""A number without an interval is the least where it lies this share below the next."""
SHOWN = (Group.DELIVERS, Group.DROPS, Group.LOST, Group.PARTIAL, Group.COUNTS, Group.UNCOUNTED, Group.EMPTY)
RANKED = "sets rank"
TIE = "cannot be told apart"
BEST = "✓"
MEANING = (
    f"{BEST} best of its line, or too close to the best to tell apart; none where all are alike. Only who delivers "
    "every record at that rate is considered. Agents are compared inside each block (repetition), so two may differ "
    "although their intervals overlap"
)


class Quantity(Struct, frozen=True):
    """One row of the table: a quantity of every configuration."""

    label: str
    note: str
    cells: tuple[str, ...]
    best: frozenset[int] = frozenset()
    """Places of the cells that are best; empty where all are alike."""
    minor: bool = False
    """The same per something smaller as the line above it."""


class ChoiceTable(Struct, frozen=True):
    """The table: configurations that promise records, and what each takes and delivers."""

    view: PartView
    columns: tuple[ConfigurationFinding, ...]
    lines: tuple[Quantity, ...]
    others: int
    """Configurations for which there was no room."""

    @property
    def marked(self) -> bool:
        """Whether any cell is marked as best."""
        return any(line.best for line in self.lines)


def decision(findings: Findings, parts: Sequence[PartView], room: int = ROOM) -> ChoiceTable | None:
    """The table of the part that the first sentence is of; None where no configuration was measured that records.

    ``room`` is how many configurations may stand side by side: the first in the order of the report, and of the last
    two the one that delays least, so that whoever comes first by either cost is among them.
    """
    view = head(parts) or next((view for view in parts if _rows(view)), None)
    rows = _rows(view) if view else []
    if view is None or not rows:
        return None
    by = ranked_by(findings)
    lines = list(_lines(view, parts, rows, by))
    kept = _kept(rows, room, by)
    return ChoiceTable(
        view=view,
        columns=tuple(rows[number] for number in kept),
        lines=tuple(_narrowed(line, kept) for line in lines),
        others=len(rows) - len(kept),
    )


def reading(choice: ChoiceTable) -> str:
    """What the lines of the table mean, as far as they are there."""
    used = "CPU is that of all threads, until the last record has arrived. "
    cpu_told = used if any(line.label.startswith("CPU") for line in choice.lines) else ""
    return f"Delay is {overhead_words(choice.view.part)} (latency, overhead). {cpu_told}± is a 95 % interval."


def _rows(view: PartView) -> list[ConfigurationFinding]:
    return [row for group in SHOWN for row in view.groups.get(group, ())]


def _kept(rows: list[ConfigurationFinding], room: int, by: Cost) -> list[int]:
    kept = list(range(min(room, len(rows))))
    other: Cost = "overhead" if by == "cpu" else "cpu"
    ranked = [(number, rank) for number, row in enumerate(rows) if (rank := place(row, other, by))]
    first = min(ranked, key=lambda numbered: numbered[1], default=None)
    if first and first[0] not in kept and room > 1:
        kept[-1] = first[0]
    return kept


def _narrowed(line: Quantity, kept: list[int]) -> Quantity:
    best = frozenset(new for new, old in enumerate(kept) if old in line.best)
    return replace(line, cells=tuple(line.cells[number] for number in kept), best=best)


def _lines(view: PartView, parts: Sequence[PartView], rows: list[ConfigurationFinding], by: Cost) -> Iterator[Quantity]:
    others = [other for other in parts if _alike(other.part, view.part)]
    elsewhere = [line for other in others for line in _of_delay_elsewhere(other, rows, by)]
    costs = {"cpu": _of_cpu(view.part, rows, by), "overhead": [*_of_delay(view.part, rows, by), *elsewhere]}
    yield from costs.pop(by)
    for lines in costs.values():
        yield from lines
    yield from _of_memory(view, parts, rows)
    added = [measure(row, "startup_first_call_added") for row in rows]
    if any(added):
        yield Quantity("Start-up, added", "", _times(added), _least(rows, added))
    for other in (view, *others):
        same = [_same(other, row) for row in rows]
        delivered = [_delivered(row, other is view) for row in same]
        if any(cell != "–" for cell in delivered):
            yield Quantity(f"Records delivered at {_speed(other.part)}", "", tuple(delivered), _whole(same))


def _of_cpu(part: PartFinding, rows: list[ConfigurationFinding], by: Cost) -> list[Quantity]:
    per_record = [cpu(row) for row in rows]
    if not any(per_record):
        return []
    best, note = _ranked(rows, "cpu", by)
    records = _times(per_record)
    rate = part.parameters.rate
    if rate == FULL:
        return [Quantity(f"CPU of all threads per {charged_words(part)}", note, records, best)]
    to_percent = rate * units_of_call(part) / 1e9 * 100
    cells = tuple(_share(per_unit(row, "cpu"), to_percent) for row in rows)
    return [
        Quantity("CPU added, of a core", note, cells, best),
        Quantity(f"CPU per {charged_words(part)}", "", records, minor=True),
    ]


def _of_delay(part: PartFinding, rows: list[ConfigurationFinding], by: Cost) -> list[Quantity]:
    best, note = _ranked(rows, "overhead", by)
    units, unit = units_of_call(part), unit_of(part)
    calls = _times([measure(row, "overhead", "call") for row in rows])
    noun = call_noun(part)
    label = f"Delay per {noun} of {units} {unit}s" if units > 1 else f"Delay per {noun}"
    lines = [Quantity(label, note, calls, best)]
    if units > 1:
        lines.append(Quantity(f"Delay per {unit}", "", _times([overhead(row) for row in rows]), minor=True))
    return lines


def _of_delay_elsewhere(view: PartView, rows: list[ConfigurationFinding], by: Cost) -> Iterator[Quantity]:
    """The delay at another speed, where who delays least may be another one."""
    same = [_same(view, row) for row in rows]
    delays = [overhead(row) if row else None for row in same]
    if any(delays):
        places = {number: rank for number, row in enumerate(same) if row and (rank := place(row, "overhead", by))}
        best = frozenset(number for number, rank in places.items() if rank == min(places.values()))
        told = best if 2 <= len(places) != len(best) else frozenset[int]()
        yield Quantity(f"per {unit_of(view.part)} at {_speed(view.part)}", "", _times(delays), told, minor=True)


def _speed(part: PartFinding) -> str:
    return condition(replace(part, levels="")).removeprefix("At ")


def _of_memory(view: PartView, parts: Sequence[PartView], rows: list[ConfigurationFinding]) -> Iterator[Quantity]:
    name: MeasureName = "rss_peak"
    for other in (view, *(other for other in parts if _alike(other.part, view.part))):
        peaks = [measure(row, name) if (row := _same(other, mine)) else None for mine in rows]
        if any(peaks):
            base = next((of for row in other.baselines if (of := measure(row, name))), None)
            note = f"no agent: {numbers.size(base.estimate)}" if base else ""
            cells = tuple(numbers.size(of.estimate) if of else "–" for of in peaks)
            yield Quantity("Memory, peak", note, cells, _least(rows, peaks))
            return


def _alike(part: PartFinding, like: PartFinding) -> bool:
    """Whether a part is the same but for the speed at which calls were started."""
    speed = teller_of(part.parameters).SPEED

    def without_speed(of: PartFinding) -> object:
        own = {name: value for name, value in asdict(of.parameters).items() if name not in speed}
        return of.parameters.kind, own, of.workload, of.settings, of.ran_on

    return part.parameters.rate != like.parameters.rate and without_speed(part) == without_speed(like)


def _same(view: PartView, row: ConfigurationFinding) -> ConfigurationFinding | None:
    """The row of the same configuration in another part."""

    if row.part == view.part.name:
        return row
    alike = (other for other in view.rows if (other.use, other.technology) == (row.use, row.technology))
    return next(alike, None)


def _times(added: Sequence[Measure | None]) -> tuple[str, ...]:
    """Times that were added, in the unit of the largest; where none was shown, its upper limit."""
    largest = max((abs(of.estimate) for of in added if of), default=0.0)
    return tuple(added_time(of, largest) if of else "–" for of in added)


def _share(of: Measure | None, to_percent: float) -> str:
    if of is None:
        return "–"
    if of.ci95 and of.ci95[0] <= 0:
        return f"at most {numbers.significant(max(0.0, of.ci95[1] * to_percent))} %"
    margin = half_width(of)
    value, width = numbers.fine(of.estimate * to_percent, None if margin is None else margin * to_percent)
    return f"{value} ± {width} %" if width else f"{value} %"


def _delivered(row: ConfigurationFinding | None, at_this_rate: bool) -> str:
    """The share that arrived; of one that lost some with the rate at which it was offered, unless the line says it."""
    if row is None or row.records.completeness is None:
        return "–"
    share, offered = numbers.percent(row.records.completeness), row.records.offered_per_second
    if row.records.completeness >= 1 or at_this_rate or not offered:
        return share
    return f"{share} of {numbers.per_second([offered])}"


def _ranked(rows: list[ConfigurationFinding], cost: Cost, by: Cost) -> tuple[frozenset[int], str]:
    """Who comes first by a cost, and what is said of the line."""
    places = {number: rank for number, row in enumerate(rows) if (rank := place(row, cost, by))}
    best = frozenset(number for number, rank in places.items() if rank == min(places.values()))
    tied = len(places) > 1 and len(best) == len(places)
    notes = ([RANKED] if cost == by and places else []) + ([TIE] if tied else [])
    return (frozenset() if tied or len(places) < 2 else best), "; ".join(notes)


def _least(rows: list[ConfigurationFinding], values: Sequence[Measure | None]) -> frozenset[int]:
    """Who takes least, of those that deliver every record; none where all are alike."""
    judged = {number: of for number, of in enumerate(values) if of and rows[number].rank is not None}
    if len(judged) < 2:
        return frozenset()
    least = min(judged.values(), key=lambda of: of.estimate)
    best = frozenset(number for number, of in judged.items() if _not_above(of, least))
    return frozenset() if len(best) == len(judged) else best


def _not_above(of: Measure, least: Measure) -> bool:
    """Whether a quantity is no more than the least, as far as their intervals say; without these: by a share."""
    if of.ci95 and least.ci95:
        return of.ci95[0] <= least.ci95[1]
    return of.estimate * (1 - CLEAR) <= least.estimate


def _whole(rows: Sequence[ConfigurationFinding | None]) -> frozenset[int]:
    """Who delivered every record; none where all did."""
    known = {number: row for number, row in enumerate(rows) if row and row.records.completeness is not None}
    best = frozenset(number for number, row in known.items() if not row.records.blocks_incomplete)
    return frozenset() if len(best) == len(known) else best
