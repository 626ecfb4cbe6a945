"""The stages of one trial while its processes run: warm-up, measured calls, drain, ordinary end."""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tracetax.companions.receiver import Receiver
from tracetax.companions.sink import PhaseReport, Sink
from tracetax.machine import disturbance
from tracetax.machine.threads import peak_rss_bytes
from tracetax.process import Ending
from tracetax.results.records import CpuAccount
from tracetax.run.bench import Bench
from tracetax.run.drain import Awaited, Drained, drain
from tracetax.run.drops import DropLog
from tracetax.run.files import Growth, RecordsFolder, Written
from tracetax.run.plan import TrialPlan
from tracetax.run.rest import Rest, await_rest
from tracetax.run.sampler import Sampler
from tracetax.run.verdicts import of_other_http
from tracetax.run.warm_up import Warmed, warm_up
from tracetax.workloads.calltree import Driver, WorkloadFailed

WARM_UP = "warm-up"
MEASURED = "measured"


class TrialOutcome(Struct, frozen=True):
    """What came of a trial that ran to its end."""

    warmed: Warmed
    rest: Rest
    drained: Drained
    ending: Ending
    before: PhaseReport
    measured: PhaseReport
    dropped_before: int
    dropped: int
    arrived_by_last_call: int
    arrived_by_drained: int
    asked_ns: int
    tool_cpu_ns: int
    calls_ns: int
    load: disturbance.Load
    sink_cpu_ns: int
    """Of the sink in the measured phase; 0 where a backend stands in its place."""
    receiver_cpu_ns: int
    """Of sink or backend, from the first call until drained; 0 where records do not reach it before that."""
    cpu: CpuAccount | None
    rss_peak_bytes: int


def conduct_or_end(
    plan: TrialPlan,
    bench: Bench,
    sink: Receiver,
    driver: Driver,
    records: RecordsFolder,
    logs: Path,
    watch: Callable[[str], None],
) -> TrialOutcome:
    """Lead the workload; one that hangs is asked what it is doing, for its log, and ended: TERM, then KILL."""
    try:
        with Sampler(driver.process.pid) as sampler:
            return _conduct(plan, bench, sink, driver, sampler, records, logs, watch)
    except WorkloadFailed as failure:
        if failure.code == "jvm-hangs":
            driver.process.ask_for_threads()
            driver.process.stop(grace=0.0, term_grace=bench.limits.term)
        raise


def _conduct(
    plan: TrialPlan,
    bench: Bench,
    sink: Receiver,
    driver: Driver,
    sampler: Sampler,
    records: RecordsFolder,
    logs: Path,
    watch: Callable[[str], None],
) -> TrialOutcome:
    """Lead the running workload through its stages."""
    limits, config, parameters = bench.limits, plan.config, plan.part.parameters
    drops = DropLog(config.drop_log, (logs / "stdout.txt", logs / "stderr.txt"))
    isolation = bench.isolation
    machine_before, tool_before = disturbance.machine_cpu(isolation.watched), time.process_time_ns()
    receivers_before = sink.cpu_with_others_ns
    driver.wait_for("ready", limits.start, interval=0.005)
    files = records if config.writes_files else None
    growth = Growth(files, limits.warm_up_quiet, limits.drain_base, watch) if files else None
    warmed = warm_up(
        driver, sink, drops, config, parameters, delivers=plan.delivers, limits=limits, watch=watch, waits=growth
    )
    if config.scrape:
        watch("warmed up, waiting for its metrics")
        sink.await_answer(limits.metrics)
    watch("warmed up, waiting for the compilers")
    rest = await_rest(driver.process.pid, limits.rest)
    before = None
    if not files and plan.delivers and config.held_until_exit > 0:
        sink.next_phase_after(warmed.records, MEASURED)
    elif not files:
        before = sink.next_phase(MEASURED)
    dropped_before = drops.total()

    watch("calling")
    sampler.start()
    driver.say("measure")
    first = driver.wait_for("first-call", limits.start, interval=0.001)
    sampler.began(first.at_ns)
    tool_at_first, receiver_at_first = time.process_time_ns(), sink.cpu_ns
    calls_limit = limits.calls_base + parameters.invocations * limits.calls_per_invocation
    calls_limit += 2 * parameters.calls * parameters.method_time_ns / parameters.threads / 1e9
    if parameters.rate != "full":
        calls_limit += 2 * parameters.calls / parameters.rate
    last = driver.wait_for("last-call", calls_limit)
    sampler.look()
    tool_cpu_ns = time.process_time_ns() - tool_at_first
    at_last_call, asked_ns = sink.counts(), time.monotonic_ns()
    written = files.look() if files else Written(files={})

    if files:
        drained = files.settle(
            since=written,
            since_ns=last.at_ns,
            quiet=limits.quiet + config.flush_interval_ns / 1e9,
            limit=limits.drain_base + plan.expected * limits.drain_per_record,
            watch=watch,
        )
    else:
        awaited = Awaited(MEASURED, plan.expected, dropped_before, last.at_ns)
        drained = drain(sink, drops, config, awaited, limits, sampler.agent_cores, watch)
    sampler.end()
    receiver_cpu_ns = sink.cpu_ns - receiver_at_first
    at_drained, settled = sink.counts(), files.look() if files else written
    rss_peak_bytes = peak_rss_bytes(driver.process.pid)
    own = disturbance.process_cpu_ns(driver.process.pid) + sink.cpu_with_others_ns - receivers_before
    own += time.process_time_ns() - tool_before
    load = disturbance.between(machine_before, disturbance.machine_cpu(isolation.watched), own, isolation.share)
    watch("ending")
    if config.scrape:
        sink.scrape_last()
    driver.say("drained")
    driver.wait_for("written", limits.write)
    ending = driver.process.stop(grace=limits.end)
    _until_connections_end(sink, seconds=2.0)
    if files:
        assert isinstance(sink, Sink)  # the catalog lets no backend stand in for files
        watch("counting what was written")
        files.count(sink, config, before=warmed.records, expected=plan.expected, phase=MEASURED)
    measured = sink.stop()
    if before is None:
        before = next((phase for phase in measured.earlier if phase.phase == WARM_UP), measured)
    if measured.phase != MEASURED:
        arrived = measured.of(config.protocol).records
        text = f"of the {warmed.records:,} records of the warm-up, {arrived:,} arrived, and none of the measured calls"
        if arrived:
            raise WorkloadFailed("warm-up-loss", text)
        if reasons := of_other_http((measured.protocols,), received=0):
            raise WorkloadFailed(reasons[0].code, f"{text}: {reasons[0].text}")
        raise WorkloadFailed("nothing-recorded", f"{text}: is the method woven, and the name pattern right?")
    arrived, by_drained = (seen.records if seen.phase == MEASURED else 0 for seen in (at_last_call, at_drained))
    if config.scrape:
        arrived = by_drained = 0  # what is counted does not travel while the calls run
    if files:
        final, received = files.look(), measured.of(config.protocol).records
        kept = before.of(config.protocol).records + received
        arrived, by_drained = (seen.carried(final, received=received, kept=kept) for seen in (written, settled))
    return TrialOutcome(
        warmed=warmed,
        rest=rest,
        drained=drained,
        ending=ending,
        before=before,
        measured=measured,
        dropped_before=dropped_before,
        dropped=drops.total(ended=True) - dropped_before,
        arrived_by_last_call=arrived,
        arrived_by_drained=by_drained,
        asked_ns=asked_ns,
        tool_cpu_ns=tool_cpu_ns,
        calls_ns=last.at_ns - first.at_ns,
        load=load,
        sink_cpu_ns=measured.cpu_ns if isinstance(sink, Sink) else 0,
        receiver_cpu_ns=0 if files or config.scrape else receiver_cpu_ns,
        cpu=sampler.account(first.at_ns, last.at_ns, drained.at_ns),
        rss_peak_bytes=rss_peak_bytes,
    )


def _until_connections_end(sink: Receiver, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while sink.counts().open_connections and time.monotonic() < deadline:
        time.sleep(0.01)
