"""From the trials of a search for a use of CPU to its answer: a rate with its interval, and what an agent takes of it.

The thesis that asks so (Nõu 2025, section 3.3) steps the rate up until a container passes 75 % of a core. Here each
trial near that point tells it: its rate, times what was looked for over what it used.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from tracetax.analysis.statements import two_digits
from tracetax.model import BASELINE, Part, Search
from tracetax.results.capacity import CapacityFinding, CapacityOutcome, CapacityTrial, RateAtUsage, given_up, judged
from tracetax.results.usage import NEAR, kept_rate, next_at_usage
from tracetax.statistics.intervals import Estimate, t_interval
from tracetax.statistics.overhead import as_ratio, compare_paired
from tracetax.words import plural

ENOUGH = 2
"""Trials without which there is no interval."""


def rates_at(trials: Sequence[CapacityTrial], search: Search) -> tuple[float, ...]:
    """What each trial at the kept rate says, in their order; the one that found the rate chose it and is left out."""
    kept = kept_rate(trials, search)
    assert search.usage
    further = [trial for trial in judged(trials) if kept is not None and trial.rate == kept][1:]
    return tuple(trial.offered * search.usage.busy / trial.cores for trial in further if trial.cores)


def rate_at_usage(trials: Sequence[CapacityTrial], search: Search) -> RateAtUsage | None:
    """The answer of one configuration so far; None before there are two trials that count."""
    rates = rates_at(trials, search)
    kept = kept_rate(trials, search)
    if len(rates) < ENOUGH or kept is None:
        return None
    cores = [trial.cores for trial in judged(trials) if trial.rate == kept and trial.cores][1:]
    return RateAtUsage(rate=t_interval(rates), at=kept, cores=sum(cores) / len(cores))


def outcome_at_usage(trials: Sequence[CapacityTrial], search: Search) -> CapacityOutcome:
    """How the search of one configuration stands."""
    if given_up(trials):
        return "failed"
    if next_at_usage(trials, search).rate is not None:
        return "unfinished"
    return "bracket" if rate_at_usage(trials, search) else "none-made"


def with_ratios(
    findings: Sequence[CapacityFinding], parts: Mapping[str, Part], search: Search
) -> tuple[CapacityFinding, ...]:
    """The findings, each with its rate as a ratio to that without an agent under the same conditions."""
    baselines = {_conditions(parts[row.part]): row for row in findings if parts[row.part].uses == (BASELINE,)}
    related: list[CapacityFinding] = []
    for row in findings:
        baseline = baselines.get(_conditions(parts[row.part]))
        if row.at_usage and baseline and baseline is not row:
            ratio = _ratio(rates_at(row.trials, search), rates_at(baseline.trials, search))
            row = replace(row, at_usage=replace(row.at_usage, ratio=ratio))
        related.append(replace(row, text=_sentence(row, search)))
    return tuple(related)


def lost(ratio: Estimate) -> str:
    """What an agent takes of the rate, with its interval: ``24 % (21 to 27 %)``."""
    text = f"{two_digits(100 * (1 - ratio.mean))} %"
    if ratio.ci95 is None:
        return text
    low, high = (100 * (1 - limit) for limit in reversed(ratio.ci95))
    return f"{text} ({two_digits(low)} to {two_digits(high)} %)"


def _conditions(part: Part) -> tuple[object, ...]:
    """The same for parts that differ in their configuration alone."""
    return part.workload, part.parameters, tuple(sorted(part.settings.items()))


def _ratio(own: Sequence[float], baseline: Sequence[float]) -> Estimate | None:
    """Paired by the rounds of the search, as far as both were made."""
    pairs = min(len(own), len(baseline))
    if pairs < ENOUGH:
        return None
    return as_ratio(compare_paired(own[:pairs], baseline[:pairs], "log-ratio"))


def _sentence(row: CapacityFinding, search: Search) -> str:
    assert search.usage
    asked = search.usage.text
    if row.outcome == "failed":
        return f"{row.title}: its trials failed; there is no answer."
    seen = judged(row.trials)
    if row.at_usage is None:
        if row.outcome == "none-made" and seen:
            used = f", where it used {two_digits(seen[-1].cores)} cores" if seen[-1].cores else ""
            made = f"the load made {seen[-1].offered:,.0f} of {float(seen[-1].rate):,.0f} requests/s"
            return f"{row.title}: {made}{used}. There is no answer for {asked} on this machine."
        return f"{row.title}: the search for {asked} has not ended."
    rate = row.at_usage.rate
    half = f" ± {(rate.ci95[1] - rate.ci95[0]) / 2:,.0f}" if rate.ci95 else ""
    tries = plural(rate.n, "trial")
    text = f"{row.title} uses {asked} at {rate.mean:,.0f}{half} requests/s ({tries} of {search.seconds:g} s"
    text += f" at {row.at_usage.at:,.0f}/s"
    if abs(row.at_usage.cores / search.usage.busy - 1) > NEAR:
        text += f", where it used {two_digits(row.at_usage.cores)} cores: drawn out in proportion"
    text += ")"
    ratio = row.at_usage.ratio
    if ratio is None:
        return f"{text}."
    if ratio.ci95 and ratio.ci95[0] <= 1 <= ratio.ci95[1]:
        return f"{text}. That cannot be told from the rate without an agent: {lost(ratio)} less."
    return f"{text}: {lost(ratio)} less than without an agent."
