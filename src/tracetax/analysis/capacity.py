"""From the trials of a search to its answer: the two rates, how sure they are, and a sentence."""

from tracetax import __version__
from tracetax.analysis.statements import rounded
from tracetax.model import FULL, Configuration, Part, Rate, Search
from tracetax.results.capacity import (
    SCHEMA_VERSION,
    Capacity,
    CapacityEnd,
    CapacityFinding,
    CapacityOutcome,
    CapacityTrial,
    full_speed,
    given_up,
    judged,
    trials_of,
)
from tracetax.results.folder import Manifest, RunFolder
from tracetax.results.records import TrialRecord
from tracetax.statistics.threshold import most_likely_to_fail


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
        configurations=tuple(_finding(part, manifest, records) for part in manifest.experiment.parts),
    )


def _finding(part: Part, manifest: Manifest, records: list[TrialRecord]) -> CapacityFinding:
    search = manifest.search or Search()
    (use,) = part.uses
    agent = manifest.agents[use.agent].built(use.build)
    config = agent.configurations[use.configuration]
    artifact = agent.artifacts.get("agent")
    trials = trials_of(records, part.name)
    low, high = _ends(part, config, trials)
    confirmed = all(end is None or end.trials > search.further for end in (low, high))
    outcome = _outcome(trials, low, high, search, confirmed=confirmed)
    # the trial that found a rate chose it: only those after it say how sure it is
    loss = most_likely_to_fail(low.trials - 1) if low else None
    queue = config.queue_records(part.parameters.depth)
    hidden = queue / (search.seconds * _records(part, config)) if queue and low and high else None
    return CapacityFinding(
        part=part.name,
        agent=use.agent,
        agent_name=agent.name,
        version=agent.version,
        artifact_sha256=artifact.sha256 if artifact else "",
        configuration=use.configuration,
        title=part.title,
        delivery=config.delivery,
        depth=part.parameters.depth,
        threads=part.parameters.threads,
        jvm=part.jvm,
        java=manifest.java.get(part.name),
        outcome=outcome,
        complete_at=low,
        incomplete_at=high,
        confirmed=confirmed and outcome not in ("unfinished", "failed"),
        loss_at_most=loss,
        hidden_per_second=hidden,
        text=_sentence(part.title, outcome, low, high, search),
        trials=tuple(trials),
    )


def _ends(
    part: Part, config: Configuration, trials: list[CapacityTrial]
) -> tuple[CapacityEnd | None, CapacityEnd | None]:
    """The highest rate at which all were complete below any at which one was not, and the lowest of those."""
    at_full = full_speed(trials)
    per_call = _records(part, config)

    def end(rate: Rate, own: list[CapacityTrial]) -> CapacityEnd:
        made = sum(trial.offered for trial in own) / len(own)
        calls = made if rate == FULL else float(rate)
        counts = [trial.counts for trial in own]
        return CapacityEnd(
            rate=rate,
            records_per_second=calls * per_call,
            trials=len(own),
            complete=counts.count("complete"),
            not_made=counts.count("not-made"),
            offered=made,
        )

    if at_full and all(trial.counts == "complete" for trial in at_full):
        return end(FULL, at_full), None
    by_rate: dict[float, list[CapacityTrial]] = {}
    failed_full = next((trial for trial in at_full if trial.counts == "incomplete"), None)
    for trial in judged(trials):
        if trial.rate != FULL:
            by_rate.setdefault(float(trial.rate), []).append(trial)
    if failed_full:
        by_rate.setdefault(failed_full.offered, []).append(failed_full)
    broken = [rate for rate, own in by_rate.items() if any(trial.counts != "complete" for trial in own)]
    high = min(broken, default=None)
    held = [rate for rate in by_rate if rate not in broken and (high is None or rate < high)]
    low = max(held, default=None)
    return (None if low is None else end(low, by_rate[low])), (None if high is None else end(high, by_rate[high]))


def _records(part: Part, config: Configuration) -> int:
    return config.records_per_call(part.parameters.depth)


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
    title: str, outcome: CapacityOutcome, low: CapacityEnd | None, high: CapacityEnd | None, search: Search
) -> str:
    length = f"trials of {search.seconds:g} s"
    if outcome == "failed":
        return f"{title}: its trials failed; there is no answer."
    if outcome == "full-speed" and low:
        return (
            f"{title} delivers every record back to back, {_records_words(low)}: complete in {low.complete} of "
            f"{low.trials} trials. There is nothing to search for."
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
    assert low
    share = rounded(100 * most_likely_to_fail(low.trials - 1))
    return f"{text}. With 95 % confidence fewer than {share} % of such trials lose a record at the lower rate."


def _not_made(end: CapacityEnd) -> str:
    """What a rate is worth that the caller does not make: nothing was lost there, and nothing shown."""
    return f"the caller itself falls behind, making {_three_digits(end.offered)} in the mean of {end.trials}"


def _rate(end: CapacityEnd) -> str:
    speed = "full speed" if end.rate == FULL else f"{_three_digits(float(end.rate))} calls/s"
    return f"{speed} ({_records_words(end)})"


def _records_words(end: CapacityEnd) -> str:
    return f"{_three_digits(end.records_per_second)} records/s"


def _three_digits(value: float) -> str:
    return rounded(value, like=value / 10)
