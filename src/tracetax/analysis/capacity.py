"""From the trials of a search to its answer: the two rates, how sure they are, and a sentence."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from tracetax import __version__
from tracetax.analysis.statements import two_digits
from tracetax.analysis.usage import outcome_at_usage, rate_at_usage, with_ratios
from tracetax.kinds import declaration_of
from tracetax.model import FULL, Configuration, Part, Rate, Search
from tracetax.results.capacity import (
    SCHEMA_VERSION,
    Capacity,
    CapacityEnd,
    CapacityFinding,
    CapacityOutcome,
    CapacityTrial,
    candidate_at_full,
    full_speed,
    given_up,
    judged,
    looks,
    trials_of,
)
from tracetax.results.earlier import older_java, older_settings
from tracetax.results.folder import RunFolder
from tracetax.results.manifest import Manifest
from tracetax.results.records import TrialRecord
from tracetax.statistics.threshold import candidate_of, confirmations, share_at_most
from tracetax.words import plural


class Claim(Struct, frozen=True):
    """What a search shows about the share of trials that lose a record at its lower rate."""

    rate: Rate
    candidate: int
    """Which of the rates it is that were tried again after they had held, from 1."""
    set_aside: int
    """Further trials that were incomplete or not made while others used the machine."""
    failed: int
    """Further trials without a result."""
    loss_at_most: float
    """Upper end of the one-sided interval; those set aside and failed count as lost. Over all candidate_of of a search
    together the bounds hold with 95 % confidence."""
    confirmed: bool
    """Whether it was tried as often as was asked."""


def build_capacity(folder: RunFolder) -> Capacity:
    """What the trials in a folder say so far; nothing is written."""
    manifest, records = folder.manifest, folder.records()
    first = manifest.invocations[0]
    return Capacity(
        schema_version=SCHEMA_VERSION,
        tool_version=__version__,
        command=first.command,
        started_at=first.started_at,
        machine=manifest.machine,
        search=manifest.search or Search(),
        configurations=_findings(manifest, records),
    )


def _findings(manifest: Manifest, records: list[TrialRecord]) -> tuple[CapacityFinding, ...]:
    parts = manifest.experiment.parts
    findings = tuple(_finding(part, manifest, records) for part in parts)
    if manifest.search is None or manifest.search.usage is None:
        return findings
    return with_ratios(findings, {part.name: part for part in parts}, manifest.search)


def _finding(part: Part, manifest: Manifest, records: list[TrialRecord]) -> CapacityFinding:
    search = manifest.search or Search()
    (use,) = part.uses
    agent = manifest.agents[part.agent_key(use.agent)].built(use.build)
    config = agent.configurations[use.configuration]
    artifact = agent.itself(use.configuration)
    trials = trials_of(records, part.name, search)
    ran_on = manifest.ran_on.get(part.name)
    found = CapacityFinding(
        part=part.name,
        agent=use.agent,
        agent_name=agent.name,
        version=agent.version_in(use.configuration),
        artifact_sha256=artifact.sha256 if artifact else "",
        configuration=use.configuration,
        title=part.title,
        delivery=config.delivery,
        depth=declaration_of(part.parameters).units(part.parameters, 1),
        threads=part.parameters.threads,
        jvm=older_settings(part.settings),
        java=older_java(ran_on),
        outcome="unfinished",
        complete_at=None,
        incomplete_at=None,
        confirmed=False,
        loss_at_most=None,
        hidden_per_second=None,
        text="",
        trials=tuple(trials),
        settings=part.settings,
        ran_on=ran_on,
    )
    if search.usage:
        outcome = outcome_at_usage(trials, search)
        return replace(found, outcome=outcome, confirmed=outcome == "bracket", at_usage=rate_at_usage(trials, search))
    return _bracketed(found, part, config, search)


def _bracketed(found: CapacityFinding, part: Part, config: Configuration, search: Search) -> CapacityFinding:
    """A finding with its two rates, how sure they are, and its sentence."""
    trials = list(found.trials)
    low, high = _ends(part, config, trials)
    claimed = claim(trials, search)
    confirmed = (claimed is None or claimed.confirmed) and (high is None or high.trials > search.further)
    outcome = _outcome(trials, low, high, search, confirmed=confirmed)
    if low and claimed:
        low = replace(low, set_aside=claimed.set_aside, failed=claimed.failed)
    queue = declaration_of(part.parameters).queue_records(part.parameters, config)
    records_of_call = _records(part, config)
    hidden = queue / (search.seconds * records_of_call) if queue and low and high and records_of_call else None
    return replace(
        found,
        outcome=outcome,
        complete_at=low,
        incomplete_at=high,
        confirmed=confirmed and outcome not in ("unfinished", "failed"),
        loss_at_most=claimed.loss_at_most if claimed else None,
        hidden_per_second=hidden,
        text=_sentence(part.title, outcome, (low, high), claimed, search),
        candidate=claimed.candidate if claimed else 1,
    )


def claim(trials: Sequence[CapacityTrial], search: Search) -> Claim | None:
    """What the trials of one configuration show about its lower rate; None where it has none.

    The trial that found the rate chose it, so only the others say how sure it is.
    """
    low, _ = _sides(trials)
    if not low:
        return None
    rate = low[0].rate
    candidate = 1
    if rate != FULL:
        candidate = int(candidate_at_full(trials)) + candidate_of(looks(trials), float(rate))
    others = [trial.counts for trial in trials if trial.rate == rate]
    set_aside, failed, held = others.count("disturbed"), others.count("failed"), len(low) - 1
    return Claim(
        rate=rate,
        candidate=candidate,
        set_aside=set_aside,
        failed=failed,
        loss_at_most=share_at_most(held, set_aside + failed, candidate),
        confirmed=held >= confirmations(search.further, candidate),
    )


def _sides(trials: Sequence[CapacityTrial]) -> tuple[list[CapacityTrial], list[CapacityTrial]]:
    """The judged trials at the highest rate at which all were complete below any at which one was not, and those at
    the lowest rate at which one was not."""
    at_full = full_speed(trials)
    if at_full and all(trial.counts == "complete" for trial in at_full):
        return at_full, []
    by_rate: dict[float, list[CapacityTrial]] = {}
    for trial in judged(trials):
        if trial.rate != FULL:
            by_rate.setdefault(float(trial.rate), []).append(trial)
    failed_full = next((trial for trial in at_full if trial.counts == "incomplete"), None)
    if failed_full:
        by_rate.setdefault(failed_full.offered, []).append(failed_full)
    broken = [rate for rate, own in by_rate.items() if any(trial.counts != "complete" for trial in own)]
    high = min(broken, default=None)
    low = max((rate for rate in by_rate if high is None or rate < high), default=None)
    return ([] if low is None else by_rate[low]), ([] if high is None else by_rate[high])


def _ends(
    part: Part, config: Configuration, trials: list[CapacityTrial]
) -> tuple[CapacityEnd | None, CapacityEnd | None]:
    """Both sides as the file has them."""
    per_call = _records(part, config)

    def end(own: list[CapacityTrial]) -> CapacityEnd | None:
        if not own:
            return None
        made = sum(trial.offered for trial in own) / len(own)
        complete = own[0].rate == FULL and all(trial.counts == "complete" for trial in own)
        asked = next((float(trial.rate) for trial in own if trial.rate != FULL), own[-1].offered)
        counts = [trial.counts for trial in own]
        return CapacityEnd(
            rate=FULL if complete else asked,
            records_per_second=(made if complete else asked) * per_call,
            trials=len(own),
            complete=counts.count("complete"),
            not_made=counts.count("not-made"),
            offered=made,
        )

    low, high = _sides(trials)
    return end(low), end(high)


def _records(part: Part, config: Configuration) -> float:
    """Records of a call, in the mean."""
    parameters = part.parameters
    return declaration_of(parameters).records_made(parameters, config, parameters.calls) / parameters.calls


def _outcome(
    trials: list[CapacityTrial], low: CapacityEnd | None, high: CapacityEnd | None, search: Search, *, confirmed: bool
) -> CapacityOutcome:
    if given_up(trials):
        return "failed"
    if low and low.rate == FULL:
        return "full-speed" if confirmed else "unfinished"
    if high and low is None and float(high.rate) <= search.lowest:
        return "none-complete" if high.lossy else "none-made"
    if low and high and confirmed and float(high.rate) <= float(low.rate) * (1 + search.resolution) * 1.005:
        return "bracket"
    return "unfinished"


def _sentence(
    title: str,
    outcome: CapacityOutcome,
    ends_found: tuple[CapacityEnd | None, CapacityEnd | None],
    claimed: Claim | None,
    search: Search,
) -> str:
    low, high = ends_found
    if search.objective:
        return _of_objective(title, outcome, ends_found, claimed, search)
    length = f"trials of {search.seconds:g} s"
    if outcome == "failed":
        return f"{title}: its trials failed; there is no answer."
    if outcome == "full-speed" and low:
        return (
            f"{title} delivers every record back to back, {_records_words(low)}: complete in {low.complete} of "
            f"{plural(low.trials, 'trial')}. There is nothing to search for."
        )
    if outcome == "none-complete" and high:
        return (
            f"{title} loses records even at {_rate(high)}, the lowest rate that was tried: incomplete in "
            f"{high.lossy} of {high.trials} {length}."
        )
    if outcome == "none-made" and high:
        return f"{title}: at {_rate(high)}, the lowest rate that was tried, {_not_made(high)}. There is no answer."
    if low is None and high is None:
        return f"{title}: no trial counts yet. The search has not ended."
    ends: list[str] = []
    if low:
        ends.append(f"delivers every record at {_rate(low)}, in {low.complete} of {low.trials} {length}")
    if high:
        if high.lossy:
            where = f"{_rate(high)}, where {high.lossy} of {high.trials} lost some"
            ends.append(f"{'but not' if low else 'loses records'} at {where}")
        else:
            ends.append(f"at {_rate(high)} {_not_made(high)}")
    text = f"{title} {', '.join(ends)}"
    if outcome == "unfinished":
        return f"{text}. The search has not ended."
    assert claimed
    share = two_digits(100 * claimed.loss_at_most)
    text = f"{text}. With 95 % confidence fewer than {share} % of such trials lose a record at the lower rate"
    given_up = claimed.candidate - 1
    if given_up:
        were = "rate that was" if given_up == 1 else "rates that were"
        text += f", which allows for the {given_up:,} {were} given up before it"
    return f"{text}.{_left_out(claimed)}"


def _of_objective(
    title: str,
    outcome: CapacityOutcome,
    ends_found: tuple[CapacityEnd | None, CapacityEnd | None],
    claimed: Claim | None,
    search: Search,
) -> str:
    """Up to which rate an objective is kept."""
    low, high = ends_found
    assert search.objective
    asked, length = search.objective.text, f"trials of {search.seconds:g} s"
    if outcome == "failed":
        return f"{title}: its trials failed; there is no answer."
    if low is None and high is None:
        return f"{title}: no trial counts yet. The search has not ended."
    clauses: list[str] = []
    if low:
        clauses.append(f"{asked} holds at {_per_second(low)}, in {low.complete} of {low.trials} {length}")
    if high and high.lossy:
        where = f"at {_per_second(high)} ({high.lossy} of {high.trials})"
        clauses.append(f"not {where}" if low else f"{asked} does not hold {where}")
    elif high:
        clauses.append(f"{_per_second(high)} are not made")
    text = f"{title}: {', '.join(clauses)}"
    if outcome == "unfinished" or claimed is None:
        return f"{text}. {'' if outcome != 'unfinished' else 'The search has not ended.'}".rstrip()
    share = two_digits(100 * claimed.loss_at_most)
    return f"{text}. With 95 % confidence it is broken in fewer than {share} % of such trials at the lower rate."


def _per_second(end: CapacityEnd) -> str:
    return "full speed" if end.rate == FULL else f"{_three_digits(float(end.rate))} requests/s"


def _left_out(claimed: Claim) -> str:
    """How many trials at the lower rate were repeated, and that they count in what is claimed."""
    told = [
        f"{number:,} {'was' if number == 1 else 'were'} {what}"
        for number, what in ((claimed.set_aside, "set aside as disturbed"), (claimed.failed, "without a result"))
        if number
    ]
    if not told:
        return ""
    number = claimed.set_aside + claimed.failed
    return f" Of further trials there {' and '.join(told)}: {'it counts' if number == 1 else 'they count'} as lost."


def _not_made(end: CapacityEnd) -> str:
    """What a rate is worth that the caller does not make: nothing was lost there, and nothing shown."""
    return f"the caller itself falls behind, making {_three_digits(end.offered)} in the mean of {end.trials}"


def _rate(end: CapacityEnd) -> str:
    speed = "full speed" if end.rate == FULL else f"{_three_digits(float(end.rate))} calls/s"
    return f"{speed} ({_records_words(end)})"


def _records_words(end: CapacityEnd) -> str:
    return f"{_three_digits(end.records_per_second)} records/s"


def _three_digits(value: float) -> str:
    return two_digits(value, like=value / 10)
