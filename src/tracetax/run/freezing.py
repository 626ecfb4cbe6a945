"""A program that is frozen after its last call and then killed, as clouds do with the host of a function."""

import contextlib
import os
import signal
import time

from tracetax.kinds import declaration_of
from tracetax.ledger import Ledger
from tracetax.machine.processes import ProcessTree
from tracetax.model import Configuration, Delivery
from tracetax.results.records import Verdict
from tracetax.run.context import TrialContext
from tracetax.run.drain import Drained
from tracetax.words import share, was

FREEZE_SECONDS = 0.0005
"""How often it is looked whether the last call has returned: a record that is sent meanwhile still arrives."""
KILLED_BY = "KILL"


def stop(tree: ProcessTree) -> int:
    """Stop all processes of a program at once; when they were, CLOCK_MONOTONIC ns."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(tree.root, signal.SIGSTOP)
    stopped_ns = time.monotonic_ns()
    with contextlib.suppress(OSError):
        tree.look(search=True)
    for pid in tree.others:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    return stopped_ns


def await_frozen(context: TrialContext, stopped_ns: int) -> Drained:
    """Wait for as long as the program stays frozen: what had left it may still arrive, and nothing else does."""
    frozen_ns = declaration_of(context.parameters).frozen_ns(context.parameters) or 0
    context.watch(f"frozen for {frozen_ns / 1e9:g} s")
    time.sleep(max(0.0, (stopped_ns + frozen_ns - time.monotonic_ns()) / 1e9))
    last_ns = context.receiver.counts().last_arrival_ns
    return Drained(at_ns=max(stopped_ns, last_ns), within_limit=True)


def of_frozen(ledger: Ledger, config: Configuration, frozen_ns: int) -> list[Verdict]:
    """Verdicts on records of a program that was frozen and killed: what is missing is the finding, and no failure."""
    if config.delivery in (Delivery.NONE, Delivery.AGGREGATED) or not ledger.expected:
        return []
    verdicts: list[Verdict] = []
    if ledger.malformed:
        text = f"{ledger.malformed:,} messages could not be read as {config.protocol}"
        verdicts.append(Verdict("malformed-input", "error", text))
    if ledger.received > ledger.expected:
        text = f"{ledger.received:,} records arrived, {ledger.expected:,} were expected"
        return [*verdicts, Verdict("too-many-records", "error", text)]
    if lost := ledger.expected - ledger.received:
        how = f"frozen for {frozen_ns / 1e9:g} s and killed" if frozen_ns else "killed"
        text = f"{share(lost, ledger.expected, 'record')} {was(lost)} lost: the host was {how} after its last answer"
        verdicts.append(Verdict("frozen-loss", "note", text))
    return verdicts
