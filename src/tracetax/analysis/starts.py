"""How many starts of a row were slow, and in words what share of slow ones that leaves possible."""

from collections.abc import Sequence

import numpy as np

from tracetax.model import Use
from tracetax.results.blocks import Paired, service_mean
from tracetax.results.findings import StartsFinding
from tracetax.results.manifest import ChosenCalls
from tracetax.results.records import TrialRecord, Verdict
from tracetax.statistics.overhead import overhead_regimes
from tracetax.statistics.regimes import MIN_VALUES, Regimes, Starts, share_below, two_regimes


def starts_of(beside: Paired, further: Starts) -> StartsFinding | None:
    """The starts of a configuration: by themselves, or beside their baselines where only that shows regimes."""
    if not beside.blocks:
        return None
    regimes = overhead_regimes(beside.values, beside.baseline_1, beside.baseline_2, further)
    return _finding(regimes.shown, len(further.own) if regimes.shown == regimes.own else 0)


def starts_of_baseline(trials: Sequence[TrialRecord], further: Starts) -> StartsFinding | None:
    """The starts of a baseline, both of each block."""
    values = [*(service_mean(trial) for trial in trials), *further.baseline]
    if not values:
        return None
    return _finding(two_regimes(np.array(values)), len(further.baseline))


def _finding(regimes: Regimes, outside_blocks: int) -> StartsFinding | None:
    starts, slow = regimes.fast + regimes.slow, regimes.slow if regimes.two else 0
    if starts < MIN_VALUES:
        return None
    slower = regimes.ratio if slow else None
    return StartsFinding(slow, starts, share_below(slow, starts), outside_blocks, slower)


def slow_starts(starts: StartsFinding | None) -> list[Verdict]:
    """The note of a row some of whose starts were slow."""
    if starts is None or not starts.slow:
        return []
    were = "start was" if starts.slow == 1 else "starts were"
    text = (
        f"{starts.slow} of {starts.starts} {were} slow, {starts.slower or 1.0:.3g} times the others; "
        f"with 95 % confidence under {100 * starts.upper:.2g} % of all starts are"
    )
    return [Verdict(code="slow-starts", severity="note", text=text)]


def calls_chosen(chosen: Sequence[ChosenCalls], part: str, use: Use) -> list[Verdict]:
    """The note of a row whose starts make another number of calls than the experiment says, and why."""
    own = (choice for choice in chosen if (choice.part, choice.use) == (part, use))
    choice = next((choice for choice in own if choice.calls != choice.instead_of), None)
    if choice is None:
        return []
    text = (
        f"{choice.calls:,} calls in a start instead of {choice.instead_of:,}: in the first blocks its starts varied by "
        f"{100 * choice.between:.2g} % beyond their calls, and for their calls by {100 * choice.within:.2g} %; "
        f"a start took {choice.start_seconds:.2g} s, its calls {choice.calls_seconds:.2g} s. For the same half-width "
        f"that takes {100 * choice.gain:.2g} % less time. Those blocks do not count for it"
    )
    return [Verdict(code="calls-chosen", severity="note", text=text)]
