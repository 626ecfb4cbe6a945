"""Sentences that follow from the rows, each with the rows it rests on. No adjectives, no rate left out."""

import math

from msgspec.structs import replace

from tracetax.analysis.delivery import delivers_everything
from tracetax.kinds import declaration_of
from tracetax.model import FULL, Delivery
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
    told: list[Statement] = []
    for part in findings.experiment.parts:
        rows = [row for row in findings.configurations if row.part == part.name]
        for tell in (_dropping, _truncating, _sampling):
            told += [statement for row in rows if (statement := tell(part, row))]
    return tuple(told)


def _dropping(part: PartFinding, row: ConfigurationFinding) -> Statement | None:
    """That a configuration lost records at this rate, and what it carried."""
    records = row.records
    failed = any(verdict.severity == "error" for verdict in row.verdicts)
    promised = row.delivery in (Delivery.LOSSY, Delivery.COMPLETE) and records.expected
    if failed or not promised or delivers_everything(records):
        return None
    rate = find_measure(row, "delivery_rate")
    offered = two_digits(records.offered_per_second) if records.offered_per_second else "?"
    carried = f" and carries about {two_digits(rate.estimate)} of them here" if rate else ""
    text = (
        f"{condition(part)}, {name_of(row)} is offered {offered} records/s{carried}: {_loss(row)} "
        f"(in {share(records.blocks_incomplete, records.blocks, 'block')})."
    )
    return _about(part, row, "drops", text)


def _truncating(part: PartFinding, row: ConfigurationFinding) -> Statement | None:
    """That a configuration cuts call trees: what it leaves out so is no loss."""
    records = row.records
    if not records.truncated or any(verdict.severity == "error" for verdict in row.verdicts):
        return None
    kind = declaration_of(part.parameters)
    units = kind.units(part.parameters, 1)
    kept = units * records.expected / (records.expected + records.truncated)
    text = (
        f"{condition(part)}, {name_of(row)} cuts call trees by design: it records {kept:,.0f} of {units:,} "
        f"{kind.unit}s of each. The others are truncated by its limit; they count as neither expected nor lost."
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
    elif records.due and records.received:
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


def receiver_statements(findings: Findings) -> tuple[Statement, ...]:
    """What receiving costs: a sentence for every row that was measured both at a backend and at the sink."""
    told: list[Statement] = []
    for part in findings.experiment.parts:
        rows = [row for row in findings.configurations if row.part == part.name]
        for row in (row for row in rows if row.backend):
            twin = next((other for other in rows if _alike(other, row)), None)
            own = find_measure(row, "receiver_cpu", "record")
            sink = find_measure(twin, "receiver_cpu", "record") if twin else None
            if twin is None or own is None or sink is None or sink.estimate <= 0:
                continue
            times = two_digits(own.estimate / sink.estimate)
            blocks = plural(own.n_blocks, "block")
            text = (
                f"{condition(part)}, {row.backend_name} takes {_ns(own)} of CPU to receive a record of "
                f"{name_of(twin)}, the sink {_ns(sink)} on the same cores: {times} times as much ({blocks})."
            )
            rests_on = (row_key(row), row_key(twin))
            identity = f"{part.name}-{row.agent}-{row.configuration}{f'-{row.build}' if row.build else ''}"
            told.append(Statement(id=f"{identity}-{row.backend}-receives", text=text, rests_on=rests_on))
    return tuple(told)


def _alike(other: ConfigurationFinding, row: ConfigurationFinding) -> bool:
    """Whether a row is the same at the sink."""
    return other.use == replace(row.use, backend="")


def _ns(of: Measure) -> str:
    if of.ci95 is None:
        return f"{two_digits(of.estimate)} ns"
    half = (of.ci95[1] - of.ci95[0]) / 2
    return f"{two_digits(of.estimate, like=half)} ± {two_digits(half)} ns"


def condition(part: PartFinding) -> str:
    """The rate of a part in words, and its level of each factor: ``At 1,000 calls/s (JDK 17)``."""
    rate, kind = part.parameters.rate, declaration_of(part.parameters)
    if not kind.warms_up(part.parameters):
        return f"In cold starts{f' ({part.levels})' if part.levels else ''}"
    speed = "full speed" if rate == FULL else f"{rate:,.10g} {kind.noun}s/s"
    return f"At {speed}{f' ({part.levels})' if part.levels else ''}"


def two_digits(value: float, like: float | None = None) -> str:
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
