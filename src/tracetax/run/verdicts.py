"""The judgement on one trial: what went wrong in it, or what its reader must know.

A verdict of severity ``error`` makes the trial a failed one; a loss does not: it is a result.
"""

import signal
from collections.abc import Iterable, Mapping

from tracetax.ledger import Ledger, ProtocolCount, Sampling
from tracetax.machine.disturbance import Load
from tracetax.machine.processes import disagreement
from tracetax.model import Configuration, Delivery
from tracetax.printable import printable
from tracetax.process import Ending
from tracetax.results.records import Severity, Verdict, WarmUp
from tracetax.run.drain import Drained
from tracetax.words import are, plural, share, was

BY_TIME = "steady-call-time"
"""How warmth is told where a runtime has no list of what it compiled."""
LATE_ABOVE = 0.01
"""Share of the records that came after the drain, beyond what the agent may hold back, from which that is told."""


def of_records(ledger: Ledger, config: Configuration, *, backend: str = "", learned: bool = False) -> list[Verdict]:
    """Verdicts on what arrived against what was promised, or ``learned`` from single calls."""
    verdicts = _of_messages(ledger, config, backend)
    if config.delivery is Delivery.NONE:
        # a search for an objective keeps the protocol of what it does not wait for
        if ledger.received and config.protocol is None:
            text = f"{plural(ledger.received, 'record')} arrived where none was promised"
            verdicts.append(Verdict("unpromised-records", "warning", text))
        return verdicts
    if not ledger.expected:
        return verdicts
    if not ledger.received:
        text = (
            f"no record of the monitored method arrived, {ledger.expected:,} {was(ledger.expected)} expected: "
            "is the method woven, and the name pattern right?"
        )
        return [*verdicts, Verdict("nothing-recorded", "error", text)]
    return [*verdicts, *_of_surplus(ledger, learned=learned), *_of_missing(ledger, config), *_of_design(ledger, config)]


def _of_messages(ledger: Ledger, config: Configuration, backend: str) -> list[Verdict]:
    """Verdicts on what came and could not be counted as it should, and on what was turned away."""
    verdicts: list[Verdict] = []
    if ledger.malformed:
        text = f"{plural(ledger.malformed, 'message')} could not be read as {config.protocol}"
        verdicts.append(Verdict("malformed-input", "error", text))
    if ledger.cut_off:
        text = f"{plural(ledger.cut_off, 'message')} ended in the middle: the sender gave up or ended"
        verdicts.append(Verdict("cut-off", "warning", text))
    if ledger.refused and backend:
        text = f"{plural(ledger.refused, 'record')} {was(ledger.refused)} turned away or thrown away by {backend}"
        verdicts.append(Verdict("backend-refused", "warning", f"{text}: a loss may be its doing"))
    elif ledger.refused:
        text = f"{plural(ledger.refused, 'request')} {was(ledger.refused)} turned away, the sink's memory was spent"
        verdicts.append(Verdict("sink-full", "warning", f"{text}: a loss may be its doing"))
    if ledger.unexpected_names:
        names = ", ".join(map(printable, sorted(ledger.unexpected)))
        text = f"{plural(ledger.unexpected_names, 'record')} of other methods: {names}"
        verdicts.append(Verdict("unexpected-names", "note", text))
    if ledger.duplicates:
        text = f"{plural(ledger.duplicates, 'record')} arrived twice"
        verdicts.append(Verdict("duplicates", "warning", text))
    return verdicts


def _of_surplus(ledger: Ledger, *, learned: bool) -> list[Verdict]:
    """Verdicts on more records, or more admitted drops, than there can be."""
    if ledger.received > ledger.expected:
        text = f"{plural(ledger.received, 'record')} arrived, {ledger.expected:,} {was(ledger.expected)} expected"
        if learned:
            text += ", by what single requests made: what the service does of itself makes records too"
            return [Verdict("more-than-learned", "note", text)]
        return [Verdict("too-many-records", "error", text)]
    surplus = ledger.received + ledger.dropped_reported - ledger.expected
    if surplus <= 0:
        return []
    text = (
        f"{plural(surplus, 'drop')} too many {are(surplus)} admitted: "
        "the warm-up's, logged late, or of events that are no records"
    )
    return [Verdict("account-exceeds", "warning", text)]


def _of_missing(ledger: Ledger, config: Configuration) -> list[Verdict]:
    """Verdicts on records that neither arrived nor were admitted as dropped, and on whose doing that is."""
    verdicts: list[Verdict] = []
    missing = ledger.missing - ledger.missing_in_kernel
    if ledger.lost_datagrams > 0:
        text = (
            f"{plural(ledger.lost_datagrams, 'datagram')} {was(ledger.lost_datagrams)} lost in this machine's "
            "kernel, whose receive buffer of "
            f"{ledger.receive_buffer_bytes / 2**20:.1f} MiB was full: "
            f"{share(ledger.missing_in_kernel, ledger.expected, 'record')} at most "
            f"{are(ledger.missing_in_kernel)} missing for that, and not by the agent's doing"
        )
        verdicts.append(Verdict("kernel-loss", "warning", text))
    if not missing:
        return verdicts
    if ledger.lost_datagrams < 0:
        text = "this machine does not tell how many datagrams its kernel lost: that may be why records are missing"
        verdicts.append(Verdict("kernel-loss-unknown", "warning", f"{text}, and not the agent"))
    lost = share(missing, ledger.expected, "record")
    if config.delivery is Delivery.COMPLETE:
        return [*verdicts, Verdict("records-lost", "warning", f"{lost} that it should deliver never arrived")]
    if config.deletes_oldest:
        text = f"{lost} {are(missing)} not in the files that were kept: it deletes the oldest ones while it writes"
        return [*verdicts, Verdict("oldest-deleted", "warning", text)]
    text = f"{lost} neither arrived nor {was(missing)} reported as dropped"
    return [*verdicts, Verdict("silent-loss", "warning", text)]


def _of_design(ledger: Ledger, config: Configuration) -> list[Verdict]:
    """Verdicts on what the agent cuts or drops by design, and on broken trees where nothing is missing."""
    verdicts: list[Verdict] = []
    if ledger.truncated:
        kept = (config.tree_limit or 1) * config.records_per_invocation
        each = ledger.truncated * kept // ledger.expected
        text = f"it cuts call trees after {config.tree_limit:,} invocations by design: {each:,} of each tree's records"
        text += f", {ledger.truncated:,} in all, count as neither expected nor lost"
        verdicts.append(Verdict("truncated", "note", text))
    if ledger.dropped_reported:
        text = f"{plural(ledger.dropped_reported, 'record')} dropped by policy, as the agent reports"
        verdicts.append(Verdict("drops", "note", text))
    if ledger.received == ledger.expected and not ledger.complete:
        text = (
            f"all records arrived, but {ledger.complete_trees:,} of {ledger.expected_trees:,} call trees are complete"
        )
        verdicts.append(Verdict("broken-trees", "error", text))
    return verdicts


def of_other_http(phases: Iterable[Mapping[str, ProtocolCount]], *, received: int) -> list[Verdict]:
    """Verdicts on connections that spoke the wrong HTTP to the sink: the reason where nothing was ``received``."""
    verdicts: list[Verdict] = []
    severity = "warning" if received else "error"
    every = [item for phase in phases for item in phase.items()]
    for name in dict.fromkeys(name for name, _ in every):
        counts = [count for other, count in every if other == name]
        if number := sum(count.grpc_at_http for count in counts):
            text = (
                f"gRPC came to the HTTP port ({name}): use otlp-grpc. {_connections(number)} turned away: "
                'let the agent\'s file say protocol = "otlp-grpc" and its port, or let the agent speak HTTP'
            )
            verdicts.append(Verdict(code="wrong-http", severity=severity, text=text))
        if number := sum(count.http_at_grpc for count in counts):
            text = (
                f"HTTP/1 came to the gRPC port ({name}): use otlp-http. {_connections(number)} turned away: "
                'let the agent\'s file say protocol = "otlp-http" and its port, or let the agent speak gRPC'
            )
            verdicts.append(Verdict(code="wrong-http", severity=severity, text=text))
    return verdicts


def _connections(number: int) -> str:
    return "1 connection was" if number == 1 else f"{number:,} connections were"


def of_sample(ledger: Ledger, warm_up: Ledger, config: Configuration) -> list[Verdict]:
    """Verdicts on a configuration that samples: no record is promised, but with none at all nothing was traced.

    What a sampler lets through for certain, or but for one trial in a million, is owed all the same.
    """
    if config.delivery is not Delivery.SAMPLED:
        return []
    if not ledger.received and not warm_up.received:
        text = f"no record of the monitored method arrived, of {ledger.made:,} that could have been sampled"
        return [Verdict("nothing-recorded", "error", f"{text}: is the method woven, and the name pattern right?")]
    if not ledger.received and not ledger.due_least:
        text = f"of {ledger.made:,} records of the measured calls none arrived, and some of the warm-up's did"
        why = "the calls were over before its sampler had to let one through"
        if config.sampling is None:
            why = "the agent's file does not say how many are due"
        return [Verdict("sample-empty", "warning", f"{text}: {why}")]
    if config.sampling is None or ledger.due_least <= ledger.received <= ledger.due_most:
        return []
    between = f"{ledger.due_least:,} to {ledger.due_most:,} records"
    sampler = sampler_words(config.sampling)
    if ledger.received > ledger.due_most:
        text = f"{ledger.received:,} records arrived, and a sampler of {sampler} lets {between} through"
        return [Verdict("sample-exceeds", "warning", text)]
    text = f"{ledger.missing_of_sample:,} of {ledger.due:,} sampled records never arrived"
    text += f": {ledger.received:,} did, and a sampler of {sampler} lets {between} through"
    if ledger.dropped_reported:
        text += f"; the agent reports {ledger.dropped_reported:,} as dropped"
    return [Verdict("sample-loss", "warning", text)]


def sampler_words(sampling: Sampling) -> str:
    """How a sampler chooses, in words."""
    if sampling.by == "time":
        return f"{sampling.at_most:,} calls in {sampling.per_ns / 1e9:g} s"
    return f"one call in {sampling.one_in:,}"


def of_metrics(count: ProtocolCount, ledger: Ledger, warm_up: Ledger, config: Configuration) -> list[Verdict]:
    """Verdicts on a configuration that counts calls instead of recording them, and is asked for the number."""
    if config.scrape is None:
        return []
    if not count.requests:
        text = f"nobody answered at {config.scrape.path} on the port that it was told: its metrics were never read"
        return [Verdict("never-scraped", "error", text)]
    verdicts: list[Verdict] = []
    if count.unanswered:
        text = f"{plural(count.unanswered, 'request')} for its metrics brought no answer"
        verdicts.append(Verdict("unanswered", "warning", text))
    metric = config.scrape.metric
    if not metric:
        text = "its metrics have no number of calls: whether it saw every call was not checked"
        verdicts.append(Verdict("not-counted", "note", text))
    elif not ledger.received:
        text = f"{metric} did not rise, {ledger.made:,} invocations were made: is the method woven, and the name right?"
        verdicts.append(Verdict("nothing-recorded", "error", text))
    elif (ledger.received, warm_up.received) != (ledger.made, warm_up.made):
        text = (
            f"{metric} rose by {ledger.received:,} during the measured calls and by {warm_up.received:,} before; "
            f"{ledger.made:,} and {warm_up.made:,} invocations were made"
        )
        verdicts.append(Verdict("aggregate-differs", "warning", text))
    return verdicts


def of_warm_up(warm_up: WarmUp, config: Configuration, connected: bool, delivers: bool) -> list[Verdict]:
    """Verdicts on the warm-up."""
    verdicts: list[Verdict] = []
    if min(warm_up.driver_level, warm_up.method_level) < 4:
        text = f"after {warm_up.calls:,} warm-up calls "
        if warm_up.how == BY_TIME:
            text += "the time of a call was not steady yet"
        else:
            text += f"the driver was at compiler tier {warm_up.driver_level} "
            text += f"and the method at tier {warm_up.method_level}, not 4"
        verdicts.append(Verdict(code="not-warm", severity="warning", text=text))
    if not warm_up.at_rest:
        text = f"{warm_up.rest_ns / 1e9:.1f} s after the warm-up the runtime's compilers were still at work: what they "
        text += "went on to compile is counted with the measured calls"
        verdicts.append(Verdict(code="still-compiling", severity="warning", text=text))
    if delivers and connected and warm_up.ledger.missing and not config.deletes_oldest:
        verdicts.append(
            Verdict(
                code="warm-up-loss",
                severity="warning",
                text=f"{share(warm_up.ledger.missing, warm_up.ledger.expected, 'record')} of the warm-up never arrived",
            )
        )
    return verdicts


def of_other_protocols(count: ProtocolCount, config: Configuration) -> list[Verdict]:
    """Verdicts on what the sink got on protocols other than the configuration's: it cost something, whoever sent it."""
    records = count.records + count.unexpected_names
    if not records and not count.malformed:
        return []
    text = (
        f"{plural(records, 'record')} and {plural(count.malformed, 'unreadable message')} came on other protocols than "
    )
    return [Verdict(code="stray-input", severity="warning", text=text + (config.protocol or "any"))]


def of_drain(ledger: Ledger, config: Configuration, arrived: int, drained: Drained) -> list[Verdict]:
    """Verdicts on the drain, by the end of which so many had ``arrived``: what comes later is not in the CPU."""
    verdicts: list[Verdict] = []
    outstanding = f"{drained.outstanding:,} of {ledger.expected:,} records were outstanding"
    if not drained.within_limit:
        text = "records still arrived at the drain limit"
        if drained.still == "busy":
            text = f"{outstanding} at the drain limit, and the agent was still busy"
        verdicts.append(Verdict(code="drain-limit", severity="warning", text=text))
    elif drained.still and ledger.missing:
        text = f"{outstanding} when the drain was given up after {drained.silent_ns / 1e9:.0f} s of silence"
        text += ", and the agent was still connected: it may have lost them, or been about to send them"
        verdicts.append(Verdict(code="drain-cut", severity="warning", text=text))
    late = ledger.received - arrived
    if ledger.expected and late > max(config.held_back, LATE_ABOVE * ledger.received):
        text = f"{share(late, ledger.received, 'record')} came after the drain: the CPU for that is not counted"
        verdicts.append(Verdict(code="after-drain", severity="warning", text=text))
    return verdicts


def of_load(load: Load) -> list[Verdict]:
    """Verdicts on what else the machine did. Only steal and others' CPU are a reason to repeat the trial."""
    verdicts: list[Verdict] = []
    if load.disturbed:
        text = f"{load.steal:.2f} cores stolen and {load.other:.2f} cores used by others during the trial"
        verdicts.append(Verdict(code="disturbed", severity="warning", text=text))
    if load.throttled_ns:
        text = f"the container's CPU quota stopped its processes for {load.throttled_ns / 1e9:.2f} s of the trial"
        verdicts.append(Verdict(code="throttled", severity="note", text=text))
    if load.swapped_bytes:
        text = f"the machine moved {load.swapped_bytes / 2**20:.1f} MiB between memory and swap during the trial"
        verdicts.append(Verdict(code="swapped", severity="note", text=text))
    return verdicts


def of_processes(seen_ns: int | None, ending: Ending, left_cpu_ns: int) -> list[Verdict]:
    """Verdicts on the CPU of the workload's processes over their lives: ``seen_ns`` by looks, against wait4.

    ``left_cpu_ns`` is what wait4 says of what the workload left behind.
    """
    witness_ns = ending.cpu_ns + left_cpu_ns
    if seen_ns is None or ending.left_behind or not (difference := disagreement(seen_ns, witness_ns)):
        return []
    text = f"the kernel's account of all its processes has {witness_ns / 1e9:.2f} s of CPU at their end, and looks at "
    text += f"those that are followed saw {seen_ns / 1e9:.2f} s: "
    if difference < 0:
        text += 'the rest is in no number. Does the workload\'s file lack processes = "tree"?'
    else:
        text += "some ended without a parent that waits for them"
    return [Verdict(code="cpu-differs", severity="note", text=text)]


def of_ending(ending: Ending, by: str = "", *, own: bool = False) -> list[Verdict]:
    """Verdicts on how the workload ended after all was measured: by itself, or ``by`` the signal that ends it.

    A service of the user's ``own`` may end as it likes: all was measured by then.
    """
    severity: Severity = "note" if own else "error"
    if ending.left_behind:
        return [Verdict(code="left-behind", severity="error", text=f"the workload {ending.description}")]
    if by and ending.asked == by:
        number = signal.Signals[f"SIG{by}"].value
        if ending.status in (0, -number, 128 + number):
            return []
    elif by:
        text = f"the workload did not end by {by}; it took {ending.asked}"
        return [Verdict(code="does-not-end", severity=severity, text=text)]
    elif ending.asked != "itself":
        return [
            Verdict(
                code="does-not-end",
                severity="error",
                text=f"the workload did not end by itself when its input was closed; it took {ending.asked}",
            )
        ]
    if ending.status != 0:
        return [Verdict(code="exit-status", severity=severity, text=f"the workload {ending.description}")]
    return []
