"""What a configuration delivered over all counted blocks."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tracetax.ledger import Ledger
from tracetax.results.findings import Records
from tracetax.results.records import TrialRecord

TOLD_OTHERWISE = {"completeness", "unexpected", "unexpected_names", "lost_datagrams"}
"""Of the fields that findings and ledgers share: those that are not the sum over trials."""
SUMMED = [name for name in Records.__struct_fields__ if hasattr(Ledger, name) and name not in TOLD_OTHERWISE]
DEFERRED_ABOVE = 0.5
"""Share of the records that arrived after the last call, above which the work was put off rather than done."""


def total(trials: Sequence[TrialRecord], blocks: int) -> Records:
    """The account of the measured phases of all counted trials, from ``blocks`` blocks, together.

    Unexpected names are those of the warm-up too: constructors and class initialisers run before the first call.
    """
    ledgers = [trial.ledger for trial in trials if trial.ledger]
    expected = sum(ledger.expected for ledger in ledgers)
    received = sum(ledger.received for ledger in ledgers)
    unexpected = Counter[str]()
    for ledger in (*ledgers, *(trial.warm_up.ledger for trial in trials if trial.warm_up)):
        unexpected.update(ledger.unexpected)
    seconds = sum((trial.moments.last_call - trial.moments.first_call) / 1e9 for trial in trials)
    sums: dict[str, Any] = {name: sum(getattr(ledger, name) for ledger in ledgers) for name in SUMMED}
    return Records(
        **sums,
        completeness=received / expected if expected else None,
        unexpected_names=unexpected.total(),
        unexpected=dict(unexpected),
        evicted=sum(ledger.evicted_records for ledger in ledgers),
        blocks_incomplete=sum(lacks(ledger) for ledger in ledgers),
        blocks=blocks,
        calls=sum(trial.parameters.calls for trial in trials),
        offered_per_second=expected / seconds if expected and seconds else None,
        lost_datagrams=sum(max(0, ledger.lost_datagrams) for ledger in ledgers),
        lost_in_kernel=sum(ledger.missing_in_kernel for ledger in ledgers),
    )


def lacks(ledger: Ledger) -> bool:
    """Whether records of a trial are missing that were promised, or that a sampler had let through."""
    return not ledger.complete if ledger.expected else ledger.missing_of_sample > 0


def delivers_everything(records: Records) -> bool:
    """Whether all records of all blocks arrived: an observation, not a promise."""
    return records.expected > 0 and records.blocks_incomplete == 0


def deferred(trials: Sequence[TrialRecord]) -> bool:
    """Whether most of what arrived did so after the last call."""
    received = sum(trial.ledger.received for trial in trials if trial.ledger)
    in_time = sum(trial.arrived_by_last_call for trial in trials)
    return received > 0 and 1 - in_time / received > DEFERRED_ABOVE


def carried_per_second(trial: TrialRecord) -> float | None:
    """Records per second that reached the sink while the calls ran; None where none did."""
    if not trial.arrived_by_last_call:
        return None
    return trial.arrived_by_last_call / ((trial.arrived_asked_ns - trial.moments.first_call) / 1e9)
