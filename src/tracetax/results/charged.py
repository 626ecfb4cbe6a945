"""The CPU that a trial is charged, per call: what both the ranking and the stop rule look at."""

from typing import Literal

from tracetax.model import FULL, Parameters
from tracetax.results.records import TrialRecord

Share = Literal["all", "caller", "agent", "jit", "gc"]


def charged_per_call(trial: TrialRecord, share: Share = "all") -> float:
    """CPU that a trial is charged, ns per call; NaN where it was not sampled.

    A caller that spins until its next call is due burns a core in either case: its share is the time inside its calls,
    as far as it had a core then (a caller always wants one, so the share of time in which it had one is known).
    The JVM's own threads are charged to the last call only, since the baselines end there and a longer wait is none of
    the agent's doing.
    """
    cpu = trial.cpu
    if cpu is None or trial.in_calls_ns is None:
        return float("nan")
    times = cpu.to_drained
    caller = trial.in_calls_ns * _had_a_core(trial, times.caller) if spins(trial.parameters) else times.caller
    if share == "all":
        used = caller + times.agent + times.jit + times.gc + times.ended + cpu.to_last_call.jvm
    else:
        used = caller if share == "caller" else getattr(times, share)
    return used / trial.parameters.calls


def _had_a_core(trial: TrialRecord, used_ns: int) -> float:
    """Share of the time between first and last call in which spinning callers were on a processor."""
    wanted = (trial.moments.last_call - trial.moments.first_call) * trial.parameters.threads
    return min(1.0, used_ns / wanted) if wanted > 0 else 1.0


def spins(parameters: Parameters) -> bool:
    """Whether a caller keeps its core busy between its calls."""
    return parameters.rate != FULL and parameters.wait == "spin"
