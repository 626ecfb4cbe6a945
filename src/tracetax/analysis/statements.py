"""Sentences that follow from the rows, each with the rows it rests on. No adjectives, no rate left out."""

import math
from itertools import pairwise

from tracetax.analysis.delivery import delivers_everything
from tracetax.model import Delivery
from tracetax.results.findings import (
    ConfigurationFinding,
    Findings,
    Measure,
    PartFinding,
    Statement,
    find_measure,
)
from tracetax.words import are, plural, share


def statements(findings: Findings) -> tuple[Statement, ...]:
    """What can be said of a run in sentences, part by part."""
    result: list[Statement] = []
    for part in findings.experiment.parts:
        rows = [row for row in findings.configurations if row.part == part.name]
        result += _comparison(part, rows)
        for tell in (_dropping, _truncating, _sampling):
            result += [statement for row in rows if (statement := tell(part, row))]
    return tuple(result)


def _comparison(part: PartFinding, rows: list[ConfigurationFinding]) -> list[Statement]:
    """How the ranked rows compare, cheapest first."""
    ranked = sorted((row for row in rows if row.rank is not None), key=lambda row: (row.rank, _price(row)))
    if not ranked:
        return []
    rests_on = tuple(row_key(row) for row in ranked)
    where = condition(part)
    first = f"{name_of(ranked[0])} costs {_costs(ranked[0], spelled=True)}{_marks(ranked[0])}"
    if len(ranked) == 1:
        text = f"{where}, one delivers every record: {first}."
    else:
        others = [
            f"{name_of(row)} {_costs(row)}{_marks(row)}" + (" (a tie)" if row.rank == before.rank else "")
            for before, row in pairwise(ranked)
        ]
        text = f"{where}, these deliver every record: {first}; {'; '.join(others)}."
    return [Statement(id=f"{part.name}-delivers-everything", text=text, rests_on=rests_on)]


def _marks(row: ConfigurationFinding) -> str:
    """What belongs to a number wherever it is told."""
    if not row.deferred:
        return ""
    left = "the overhead" if find_measure(row, "cpu", "record") else "that"
    return f" (deferred: most of its export is not in {left})"


def _dropping(part: PartFinding, row: ConfigurationFinding) -> Statement | None:
    """That a configuration lost records at this rate, and what it carried."""
    records = row.records
    failed = any(verdict.severity == "error" for verdict in row.verdicts)
    promised = row.delivery in (Delivery.LOSSY, Delivery.COMPLETE) and records.expected
    if failed or not promised or delivers_everything(records):
        return None
    rate = find_measure(row, "delivery_rate")
    offered = rounded(records.offered_per_second) if records.offered_per_second else "?"
    carried = f" and carries about {rounded(rate.estimate)} of them here" if rate else ""
    text = (
        f"{condition(part)}, {name_of(row)} is offered {offered} records per second{carried}: {_loss(row)} "
        f"(in {share(records.blocks_incomplete, records.blocks, 'block')})."
    )
    return _about(part, row, "drops", text)


def _truncating(part: PartFinding, row: ConfigurationFinding) -> Statement | None:
    """That a configuration cuts call trees: what it leaves out so is no loss."""
    records = row.records
    if not records.truncated or any(verdict.severity == "error" for verdict in row.verdicts):
        return None
    depth = part.parameters.depth
    kept = depth * records.expected / (records.expected + records.truncated)
    text = (
        f"{condition(part)}, {name_of(row)} cuts call trees by design: it records {kept:,.0f} of {depth:,} invocations "
        "of each. The others are truncated by its limit; they count as neither expected nor lost."
    )
    return _about(part, row, "truncates", text)


def _sampling(part: PartFinding, row: ConfigurationFinding) -> Statement | None:
    """What share of all invocations a configuration recorded that samples."""
    records = row.records
    failed = any(verdict.severity == "error" for verdict in row.verdicts)
    if failed or row.delivery != Delivery.SAMPLED or not records.made:
        return None
    text = (
        f"{condition(part)}, {name_of(row)} samples: {records.received:,} of {records.made:,} records arrived "
        f"({records.received / records.made * 100:.3g} %). "
    )
    if records.missing_of_sample:
        text += (
            f"Its sampler let about {records.due:,} through: {records.missing_of_sample:,} of these never arrived, "
            f"in {_blocks(records.blocks_incomplete)}."
        )
    elif records.due:
        text += "That is as many as its sampler lets through."
    else:
        text += "None of them is promised, so none counts as lost."
    return _about(part, row, "samples", text)


def _blocks(number: int) -> str:
    return f"{number:,} {'block' if number == 1 else 'blocks'}"


def _about(part: PartFinding, row: ConfigurationFinding, what: str, text: str) -> Statement:
    marks = "".join(f"-{mark}" for mark in (row.build, row.backend) if mark)
    name = f"{part.name}-{row.agent}-{row.configuration}{marks}-{what}"
    return Statement(id=name, text=text, rests_on=(row_key(row),))


def _loss(row: ConfigurationFinding) -> str:
    """How a row lost records, and what is known of those."""
    records = row.records
    silent = records.expected - records.received - records.dropped_reported
    if any(verdict.code == "oldest-deleted" for verdict in row.verdicts):
        return f"it deletes its oldest records while it writes; it kept {records.received:,} of {records.expected:,}"
    if records.lost_in_kernel and silent <= records.lost_in_kernel:
        lost = plural(silent, "record")
        return f"this machine's kernel lost {records.lost_datagrams:,} of its datagrams, and {lost} with them"
    silent -= records.lost_in_kernel
    if silent > 0:
        return f"it loses records; {silent:,} {are(silent)} unaccounted for"
    policy = "drops by policy" if row.delivery == Delivery.LOSSY else "loses records"
    return f"it {policy}; it tells of every missing record itself"


def condition(part: PartFinding) -> str:
    """The rate of a part in words, and its level of each factor."""
    parameters = part.parameters
    levels = f" ({part.levels})" if part.levels else ""
    if parameters.rate == "full":
        return f"Back to back{levels}"
    return f"At {parameters.rate * parameters.depth:,.0f} invocations per second{levels}"


def _price(row: ConfigurationFinding) -> float:
    """What a row is ranked by, as far as it is known: only the order of ties rests on it."""
    measure = find_measure(row, "cpu", "record") or find_measure(row, "overhead", "invocation")
    return measure.estimate if measure else float("inf")


def _costs(row: ConfigurationFinding, *, spelled: bool = False) -> str:
    """Overhead of the call and CPU of all threads, with what they are per where it is ``spelled`` out."""
    cpu = find_measure(row, "cpu", "record")
    overhead = _ns(find_measure(row, "overhead", "invocation"))
    if cpu is None:
        return overhead + (" per traced invocation" if spelled else "")
    if spelled:
        return f"{overhead} per traced invocation and {_ns(cpu)} of CPU, all threads together, per record"
    return f"{overhead} and {_ns(cpu)}"


def _ns(measure: Measure | None) -> str:
    if measure is None:
        return "?"
    if measure.ci95 is None:
        return f"{rounded(measure.estimate)} ns"
    half = (measure.ci95[1] - measure.ci95[0]) / 2
    return f"{rounded(measure.estimate, like=half)} ± {rounded(half)} ns"


def rounded(value: float, like: float | None = None) -> str:
    """A number to two significant digits, or to the place to which ``like`` has two."""
    size = abs(value if like is None else like)
    place = math.floor(math.log10(size)) - 1 if size > 0 else 0
    return f"{round(value, -place):,.{max(0, -place)}f}"


def name_of(row: ConfigurationFinding) -> str:
    """What a sentence calls a row."""
    build = f" [{row.build}]" if row.build else ""
    return f"{row.agent_name} ({row.title}){build}" + (f" → {row.backend_name}" if row.backend else "")


def row_key(row: ConfigurationFinding) -> str:
    """What a statement rests on: the names that tell a row from all others but its heap."""
    return "/".join(name for name in (row.part, row.agent, row.configuration, row.build, row.backend) if name)
