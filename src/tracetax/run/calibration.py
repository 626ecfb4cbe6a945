"""Calibration: how many records a single call makes, counted before any is measured, beside what the agent's file says.

It is done where calls differ in their records. The warm-up is over by then, and with it whatever is recorded once:
connections that are opened, statements that are prepared.
"""

import time

from tracetax.kinds import declaration_of
from tracetax.results.records import SingleCalls
from tracetax.run.context import TrialContext
from tracetax.words import plural
from tracetax.workloads.driver import WorkloadFailed

CALLS = 10
"""Calls of each sort, one after the other."""
PHASE = "calibration"
POLL_SECONDS = 0.005


def calibrate(context: TrialContext, following: str) -> tuple[SingleCalls, ...]:
    """Count the records of calls of each sort, then let the receiver begin the phase ``following``.

    Raises WorkloadFailed, with every difference, where they are not as many as the agent's file says. Where no file
    can say it, as of the user's own service, they are counted all the same.
    """
    kind, parameters = declaration_of(context.parameters), context.parameters
    differences: list[str] = []
    counted: list[SingleCalls] = []
    begun = False
    for sort in kind.sorts(parameters):
        declared = kind.records_of_sort(parameters, context.config, sort)
        if declared is None and not context.learns:
            continue
        context.watch(f"counting the records of single calls: {sort}")
        if not begun:
            context.receiver.next_phase(PHASE)
            begun = True
        context.driver.say(f"one-by-one {CALLS} {sort}")
        context.driver.wait_for("warmed", context.limits.burst)
        records = _settled(context, CALLS * declared if declared else 0)
        made = context.receiver.next_phase(PHASE).of(context.config.protocol)
        counted.append(SingleCalls(sort, CALLS, records, made.scopes))
        if declared is not None and records != CALLS * declared:
            text = f"{plural(CALLS, 'call')} of {sort} made {plural(records, 'record')}"
            differences.append(f"{text}, and its file declares {CALLS * declared:,} (records_per_call.{sort})")
    context.receiver.next_phase(following)
    if differences:
        raise WorkloadFailed("records-differ", "; ".join(differences))
    return tuple(counted)


def _settled(context: TrialContext, due: int) -> int:
    """Records of the phase: as soon as they are as many as are due, or when no more have come for long enough."""
    quiet_ns = context.config.flush_interval_ns + round(context.limits.quiet * 1e9)
    since = time.monotonic_ns()
    while True:
        counts = context.receiver.counts()
        if counts.records >= due and due:
            return counts.records
        if time.monotonic_ns() - max(since, counts.last_arrival_ns) > quiet_ns:
            return counts.records
        time.sleep(POLL_SECONDS)
