"""What one slow trial tells about an agent's file: woven, counted, structure, loss, drain, exit; and what to mend."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from tracetax.kinds import declaration_of
from tracetax.ledger import Ledger
from tracetax.model import Configuration, Delivery
from tracetax.program import Runtime
from tracetax.results.records import TrialRecord, Verdict
from tracetax.words import are, plural

CheckState = Literal["ok", "failed", "warning", "unknown"]

SECOND = 1_000_000_000
SLACK_NS = SECOND
"""Beyond the flush interval, after which an arrival contradicts what the file says."""
AT_THE_END = frozenset({"does-not-end", "exit-status", "left-behind"})
"""Errors of a process that had delivered its results."""
RECORDS_DIFFER = "records-differ"
"""Of single requests, which then are the only ones."""


class FileCheck(Struct, frozen=True):
    """One thing that was looked at."""

    name: Literal["started", "woven", "counted", "structure", "loss", "drain", "exit"]
    state: CheckState
    """``unknown``: nothing promised, or an earlier check failed, so that nothing can be said."""
    text: str
    hint: str = ""
    """What to do about it: keys of the agent's file, or where to look."""


def file_checks(
    record: TrialRecord,
    config: Configuration,
    runtime: Runtime,
    logs: str,
    complaint: str = "",
    monitored: Mapping[str, str] | None = None,
) -> list[FileCheck]:
    """The checks in the order in which a developer of the file meets them.

    ``runtime`` is what the program runs on, ``logs`` is the trial's folder of logs, ``complaint`` the last line in them
    that warns of something, ``monitored`` the placeholders that name the monitored method, with their values.
    """
    where = f'it says "{complaint}", in {logs}' if complaint else f"what it says: {logs}"
    return [
        _started(record, runtime, logs),
        _woven(record, config, where, monitored or {}),
        _counted(record, config),
        _structure(record, config),
        _loss(record, config),
        _drain(record, config),
        _exit(record, runtime.process, logs),
    ]


def _started(record: TrialRecord, runtime: Runtime, logs: str) -> FileCheck:
    failure = _broken(record)
    if failure is None:
        took = (record.moments.first_monitored - record.moments.spawned) / SECOND
        text = f"the first monitored call returned {took:.1f} s after the {runtime.process} was started"
        return FileCheck("started", "ok", text)
    if failure.code == RECORDS_DIFFER:
        hint = f"requests one by one tell what its file is to say, unless something else is recorded too; {logs}"
    elif not declaration_of(record.parameters).calls_itself:
        hint = f"what the service says: {logs}"
    elif not record.moments.main:
        hint = (
            f"the {runtime.process} did not reach its main method: are the flags right, and does the agent run on this "
            f"{runtime.name}? {logs}"
        )
    else:
        hint = f"the {runtime.process} reached its main method; the rest stands in {logs}"
    return FileCheck("started", "failed", failure.text.splitlines()[0], hint)


def _woven(record: TrialRecord, config: Configuration, where: str, monitored: Mapping[str, str]) -> FileCheck:
    if config.delivery is Delivery.NONE:
        return FileCheck(
            "woven", "unknown", "it promises no records: whether the method is woven shows only in its cost"
        )
    if config.delivery is Delivery.AGGREGATED:
        return _counter(record, config)
    ledgers = _ledgers(record)
    if any(ledger.received for ledger in ledgers):
        return FileCheck("woven", "ok", f'records named "{_name(config)}" arrived by {config.protocol}')
    unexpected = {name: number for ledger in ledgers for name, number in ledger.unexpected.items()}
    if any(verdict.code == RECORDS_DIFFER for verdict in record.verdicts):
        return FileCheck("woven", "unknown", "no more than these single requests were sent")
    if unexpected:
        names = ", ".join(sorted(unexpected))
        fits = fitting_name(unexpected, monitored)
        hint = f'this line would fit: record_name = "{fits}"' if fits else "record_name says what to expect"
        return FileCheck("woven", "failed", f"records arrived, but of other names: {names}", hint)
    others = {name for ledger in ledgers for name, number in ledger.other_bytes.items() if number}
    if others:
        text = f"no record arrived, but {', '.join(sorted(others))} did"
        return FileCheck("woven", "failed", text, "the sink is reached: is the pattern right that says what to trace?")
    hint = (
        "are the address of the sink, the protocol and the pattern right, and does the agent weave before the first "
        f"call? {where[0].upper()}{where[1:]}"
    )
    return FileCheck("woven", "failed", f"nothing arrived by {config.protocol}", hint)


def fitting_name(unexpected: Mapping[str, int], monitored: Mapping[str, str]) -> str:
    """The ``record_name`` of the monitored method's records, by the names that arrived; empty where none has its name.

    Of several the most frequent one. ``monitored`` holds the placeholders that may stand in it, with their values.
    """
    method = monitored.get("monitored.method", "")
    names = [name for name in unexpected if method and method in name]
    if not names:
        return ""
    fits = max(names, key=lambda name: unexpected[name])
    for placeholder, value in sorted(monitored.items(), key=lambda pair: -len(pair[1])):
        fits = fits.replace(value, f"{{{placeholder}}}")
    return fits


def _counter(record: TrialRecord, config: Configuration) -> FileCheck:
    if config.scrape is None or not config.scrape.metric:
        return FileCheck("woven", "unknown", "its metrics have no number of calls")
    if any(verdict.code == "never-scraped" for verdict in record.verdicts):
        return FileCheck(
            "woven", "failed", "nobody answered on {scrape.port}", "does a flag tell the agent to listen there?"
        )
    if not any(ledger.received for ledger in _ledgers(record)):
        return FileCheck(
            "woven", "failed", f"the metric {config.scrape.metric} did not rise", "is it named so in the answer?"
        )
    return FileCheck("woven", "ok", f"the metric {config.scrape.metric} rises with the calls")


def _counted(record: TrialRecord, config: Configuration) -> FileCheck:
    ledger = record.ledger
    if config.delivery is Delivery.AGGREGATED and ledger and any(ledger.received for ledger in _ledgers(record)):
        return _aggregated(record, ledger)
    if ledger and ledger.due_most:
        return _sampled(ledger)
    if ledger is None or not ledger.expected:
        return FileCheck("counted", "unknown", "nothing is promised record by record")
    text = f"{ledger.received:,} of {ledger.expected:,} records of the measured calls"
    if ledger.malformed:
        return FileCheck(
            "counted",
            "failed",
            f"{text}; {plural(ledger.malformed, 'message')} could not be read",
            "is protocol right?",
        )
    if ledger.received == ledger.expected:
        return FileCheck("counted", "ok", text)
    if ledger.received > ledger.expected:
        hint = "is more than the one method traced, or does records_per_invocation say too little?"
        return FileCheck("counted", "failed", text, hint)
    if not ledger.received:
        came = any(other.received for other in _ledgers(record))
        if not came:
            return FileCheck("counted", "unknown", text, "see woven")
        hint = "records of the warm-up came, and none after it: does the agent stop after a number, or sample?"
        return FileCheck("counted", "failed", text, hint)
    if ledger.expected % ledger.received == 0:
        hint = "a whole fraction: is every invocation a record of its own? See records_per_invocation and tree_limit"
        return FileCheck("counted", "failed", text, hint)
    state: CheckState = "failed" if config.delivery is Delivery.COMPLETE else "warning"
    return FileCheck("counted", state, text, "see loss")


def _sampled(ledger: Ledger) -> FileCheck:
    between = f"{ledger.due_least:,} to {ledger.due_most:,}"
    text = f"{ledger.received:,} of {ledger.made:,} records of the measured calls; by sampling {between} are due"
    if ledger.due_least <= ledger.received <= ledger.due_most:
        return FileCheck("counted", "ok", text)
    if not ledger.received:
        return FileCheck("counted", "unknown", text, "see woven")
    return FileCheck("counted", "failed", text, "does it sample as sampling says, or lose what it has sampled?")


def _aggregated(record: TrialRecord, ledger: Ledger) -> FileCheck:
    differs = next((verdict for verdict in record.verdicts if verdict.code == "aggregate-differs"), None)
    if differs is None:
        return FileCheck("counted", "ok", f"its counter rose by {ledger.received:,}, as many as there were invocations")
    hint = "is metric the counter of the traced method alone, and does it rise by one for each invocation?"
    return FileCheck("counted", "failed", differs.text, hint)


def _structure(record: TrialRecord, config: Configuration) -> FileCheck:
    ledger = record.ledger
    if ledger is None or not ledger.received or not ledger.expected_trees:
        return FileCheck("structure", "unknown", "there are no trees to look at")
    text = f"{ledger.complete_trees:,} of {ledger.expected_trees:,} call trees are complete"
    if ledger.complete_trees == ledger.expected_trees:
        return FileCheck("structure", "ok", text)
    if ledger.received < ledger.expected:
        return FileCheck("structure", "warning", f"{text}; records are missing", "see loss")
    more = f"{plural(ledger.orphans, 'record')} without a parent, {plural(ledger.partial_trees, 'partial tree')}"
    return FileCheck("structure", "failed", f"{text}; {more}", "does the agent cut deep trees (tree_limit)?")


def _loss(record: TrialRecord, config: Configuration) -> FileCheck:
    """What is missing of the measured calls, and of the warm-up, which has bursts that the calls have not."""
    check = _loss_of_calls(record, config)
    early = next((verdict for verdict in record.verdicts if verdict.code == "warm-up-loss"), None)
    if early is None or _broken(record):
        return check
    text = early.text if check.state in ("ok", "unknown") else f"{check.text}; {early.text}"
    state: CheckState = "failed" if config.delivery is Delivery.COMPLETE else "warning"
    hint = "warm-up comes in bursts of a quarter of the queue: is queue larger than it really is, or is it woven late?"
    return FileCheck("loss", "failed" if check.state == "failed" else state, text, check.hint or hint)


def _loss_of_calls(record: TrialRecord, config: Configuration) -> FileCheck:
    ledger = record.ledger
    if ledger is None or not ledger.expected:
        return FileCheck("loss", "unknown", "nothing is promised record by record")
    if not ledger.received:
        return FileCheck("loss", "unknown", "nothing came")
    in_kernel = ledger.missing_in_kernel
    kernel = f"the kernel lost {plural(ledger.lost_datagrams, 'datagram')} on the way"
    kernel += f", and at most {plural(in_kernel, 'record')} with them"
    if in_kernel and in_kernel == ledger.missing:
        return FileCheck("loss", "warning", kernel, "it is not the agent's doing: see kernel-loss in docs/verdicts.md")
    lost = ledger.missing - in_kernel
    if ledger.missing:
        text = f"{plural(lost, 'record')} {are(lost)} missing, and nothing admits to a drop"
        text += f"; {kernel}" if in_kernel else ""
        told = "Does its log tell of drops (drop_log)?" if config.drop_log is None else "Its log does not tell of them."
        hint = f"{told} Is queue too large, so that the warm-up overruns it, or held_back too small?"
        return FileCheck("loss", "failed" if config.delivery is Delivery.COMPLETE else "warning", text, hint)
    if ledger.dropped_reported:
        text = f"{plural(ledger.dropped_reported, 'record')} dropped, as it admits itself"
        return FileCheck("loss", "warning", text, "at this low rate nothing should be: is its queue as queue says?")
    return FileCheck("loss", "ok", "nothing is missing")


def _drain(record: TrialRecord, config: Configuration) -> FileCheck:
    moments = record.moments
    if record.ledger is None or not record.ledger.received or not moments.drained:
        return FileCheck("drain", "unknown", "nothing came that could be waited for")
    took_ns = moments.drained - moments.last_call
    text = f"the last record came {took_ns / SECOND:.1f} s after the last call"
    said = f"flush_interval says {config.flush_interval_ns / SECOND:g} s" if config.flush_interval_ns else ""
    late = next((verdict for verdict in record.verdicts if verdict.code == "after-drain"), None)
    if late:
        hint = "more rests in it than held_back says, or it takes longer than flush_interval"
        return FileCheck("drain", "failed", late.text, hint)
    if any(verdict.code == "drain-limit" for verdict in record.verdicts):
        return FileCheck(
            "drain", "warning", f"{text}, and still more came at the limit", "see flush_interval and held_back"
        )
    cut = next((verdict for verdict in record.verdicts if verdict.code == "drain-cut"), None)
    if cut:
        return FileCheck(
            "drain", "warning", cut.text, "how long may it send nothing while it has more to send (pause)?"
        )
    if config.flush_interval_ns and took_ns > config.flush_interval_ns + SLACK_NS:
        return FileCheck("drain", "warning", f"{text}; {said}", "it holds records for longer than its file says")
    return FileCheck("drain", "ok", f"{text}{f'; {said}' if said else ''}")


def _exit(record: TrialRecord, process: str, logs: str) -> FileCheck:
    verdict = next((verdict for verdict in record.verdicts if verdict.code in AT_THE_END), None)
    if verdict:
        return FileCheck("exit", "failed", verdict.text, f"what its threads were doing, or its last words: {logs}")
    if _broken(record):
        return FileCheck("exit", "unknown", f"the {process} did not get that far")
    return FileCheck("exit", "ok", f"the {process} ended by itself, with status 0")


def _broken(record: TrialRecord) -> Verdict | None:
    """The error of a trial that did not run to its end."""
    if record.ledger is not None:
        return None
    return next((verdict for verdict in record.verdicts if verdict.severity == "error"), None)


def _ledgers(record: TrialRecord) -> list[Ledger]:
    warm = [record.warm_up.ledger] if record.warm_up else []
    return [*warm, record.ledger] if record.ledger else warm


def _name(config: Configuration) -> str:
    return config.record_name or ""
