"""The stages of one trial while its processes run: warm-up, measured calls, drain, ordinary end."""

import time
from collections.abc import Callable
from contextlib import ExitStack

from msgspec import Struct
from msgspec.structs import replace

from tracetax.companions.receiver import PhaseReport, Receiver
from tracetax.companions.sink import Sink
from tracetax.companions.store import StoreServer
from tracetax.kinds import declaration_of
from tracetax.machine import disturbance
from tracetax.machine.processes import ProcessTree
from tracetax.machine.threads import compiling, peak_rss_bytes
from tracetax.model import Configuration, Parameters
from tracetax.process import Ending
from tracetax.program import Service
from tracetax.results.records import CpuAccount, SingleCalls
from tracetax.run.calibration import calibrate
from tracetax.run.context import MEASURED, WARM_UP, RecordSource, TrialContext
from tracetax.run.drain import Drained
from tracetax.run.drops import DropLog
from tracetax.run.equipment import Limits
from tracetax.run.files import FileRecords, RecordsFolder
from tracetax.run.freezing import FREEZE_SECONDS, KILLED_BY, await_frozen, stop
from tracetax.run.network import NetworkRecords, ScrapedRecords
from tracetax.run.plan import TrialPlan
from tracetax.run.program import ProgramStart
from tracetax.run.sampler import Sampler
from tracetax.run.verdicts import of_other_http
from tracetax.run.warm_up import NO_REST, NOT_WARMED, Rest, Warmed, await_rest, warm_up
from tracetax.workloads.driver import HANGS, Driver, WorkloadFailed

CONNECTIONS_SECONDS = 2.0
"""How long connections may outlive the workload before the receiver is ended all the same."""


class TrialOutcome(Struct, frozen=True):
    """What came of a trial that ran to its end."""

    warmed: Warmed
    rest: Rest
    drained: Drained
    ending: Ending
    before: PhaseReport
    measured: PhaseReport
    dropped_before: int
    """Records of the warm-up that the agent's log admits to have dropped."""
    dropped: int
    """Records of the measured calls that the agent's log admits to have dropped."""
    arrived_by_last_call: int
    """Records of the measured calls that had arrived when the last call had returned."""
    arrived_by_drained: int
    """Records of the measured calls that had arrived when the drain ended."""
    asked_ns: int
    """When it was asked what had arrived at the last call, CLOCK_MONOTONIC."""
    tool_cpu_ns: int
    """CPU of Tracetax's own process from the first call to the last."""
    calls: int
    """Measured calls, as many as were made."""
    calls_ns: int
    """From the first call to the last."""
    load: disturbance.Load
    sink_cpu_ns: int
    """CPU of the sink in the measured phase; 0 where a backend stands in its place."""
    receiver_cpu_ns: int
    """CPU of sink or backend, from the first call until drained; 0 where records do not reach it before that."""
    stores_cpu_ns: int
    """CPU of the stores, from the first call until drained."""
    load_cpu_ns: int
    """CPU of the load, from the first call to the last; 0 where the program calls itself."""
    cpu: CpuAccount | None
    """CPU of the workload's threads; None where the kernel did not show it."""
    rss_peak_bytes: int
    whole_cpu_ns: int | None
    """CPU of the workload's processes over their lives, by looks at them; None where there was no last look."""
    left_cpu_ns: int
    """CPU of what the workload left behind, from wait4."""
    ends_by: str = ""
    """The signal that ends the workload the ordinary way; empty where the end of its input does."""
    singles: tuple[SingleCalls, ...] = ()
    """What calls made that were made one by one."""
    stopped_ns: int = 0
    """When the program was stopped after its last call, to be killed later; 0 where it ended in order."""


def conduct_or_end(
    start: ProgramStart, sink: Receiver, driver: Driver, records: RecordsFolder, watch: Callable[[str], None]
) -> TrialOutcome:
    """Lead the workload; one that hangs is asked, for its log, what it is doing, and ended: TERM, then KILL."""
    plan, equipment, logs = start.plan, start.equipment, start.logs
    process, service, limits = driver.program, equipment.workload.service, equipment.limits
    if equipment.workload.own:
        assert service
        limits = replace(limits, end=limits.end_own, start=limits.start + service.ready_within_ns / 1e9)
    if equipment.workload.host:
        limits = replace(limits, burst=limits.burst_hosted)
    try:
        with ProcessTree(process.pid, equipment.workload.process_tree) as tree, ExitStack() as opened:
            context = TrialContext(
                config=plan.config,
                parameters=plan.part.parameters,
                expected=plan.expected,
                least_warm_up_calls=equipment.workload.least_warm_up_calls,
                threads=equipment.threads,
                limits=limits,
                isolation=equipment.isolation,
                receiver=sink,
                driver=driver,
                tree=tree,
                stores=tuple(opened.enter_context(_tree_of(store)) for store in start.stores),
                ends_by=_ends_by(plan, service),
                calibrates=plan.calibrates,
                learns=plan.learns,
                drops=DropLog(plan.config.drop_log, (logs / "stdout.txt", logs / "stderr.txt")),
                watch=watch,
            )
            process.before_reaping = tree.look_last
            try:
                with Sampler(tree, equipment.threads) as sampler:
                    return _conduct(context, source_of(context, records), sampler)
            finally:
                process.before_reaping = None
    except WorkloadFailed as failure:
        if failure.code == HANGS:
            if equipment.runtime.prints_threads_on:
                process.ask_for_threads(equipment.runtime.prints_threads_on)
            process.stop(grace=0.0, term_grace=equipment.limits.term)
        raise


def _ends_by(plan: TrialPlan, service: Service | None) -> str:
    """The signal that ends the program; empty where the end of its input does."""
    parameters = plan.part.parameters
    if declaration_of(parameters).frozen_ns(parameters) is not None:
        return KILLED_BY
    return service.end if service else ""


def _tree_of(store: StoreServer) -> ProcessTree:
    """The processes of a store, which lives as long as the trial."""
    store.check()
    assert store.process
    return ProcessTree(store.process.pid, follow=True, orphans=False)


def source_of(context: TrialContext, folder: RecordsFolder) -> RecordSource:
    """Where the records of a trial become known, by its configuration's protocol; ``folder`` is for its files."""
    if context.config.writes_files:
        assert isinstance(context.receiver, Sink)  # the catalog lets no backend stand in for files
        return FileRecords(context, context.receiver, folder)
    return ScrapedRecords(context) if context.config.scrape else NetworkRecords(context)


def _conduct(context: TrialContext, records: RecordSource, sampler: Sampler) -> TrialOutcome:
    """Lead the running workload through its stages."""
    receiver, drops, tree = context.receiver, context.drops, context.tree
    begun = _used_by_now(context)
    context.driver.wait_for("ready", context.limits.start, interval=0.005)
    kind = declaration_of(context.parameters)
    warms_up = kind.warms_up(context.parameters)
    warmed = warm_up(context, records.arrivals) if warms_up else NOT_WARMED
    records.connect()
    rest = NO_REST
    if context.threads.jit and warms_up:
        context.watch("warmed up, waiting for the compilers")
        rest = await_rest(lambda: compiling(tree.root, context.threads), context.limits.rest)
    before = records.close_warm_up(warmed.records)
    singles = calibrate(context, MEASURED) if context.calibrates else ()
    dropped_before = drops.total()
    calls = _call(context, records, sampler)
    if calls.stopped_ns:
        drained = await_frozen(context, calls.stopped_ns)
    else:
        drained = records.settle(dropped_before, calls.last_ns, sampler.agent_cores)
    sampler.end()
    receiver_cpu_ns = receiver.cpu_ns - calls.receiver_cpu_before_ns
    stores_cpu_ns = disturbance.programs_cpu_ns(context.stores) - calls.stores_cpu_before_ns
    records.look_at_drained()
    rss_peak_bytes = _rss_bytes(tree)
    load = _load_since(begun, context)
    ending = _end(context, records)
    records.count(warmed.records)
    measured = receiver.stop()
    before = before or next((phase for phase in measured.earlier if phase.phase == WARM_UP), measured)
    _check_recorded(measured, warmed, context.config)
    arrived_by_last_call, arrived_by_drained = records.arrived(before, measured)
    return TrialOutcome(
        warmed=warmed,
        rest=rest,
        drained=drained,
        ending=ending,
        before=before,
        measured=measured,
        dropped_before=dropped_before,
        dropped=drops.total(ended=True) - dropped_before,
        arrived_by_last_call=arrived_by_last_call,
        arrived_by_drained=arrived_by_drained,
        asked_ns=calls.asked_ns,
        tool_cpu_ns=calls.tool_cpu_ns,
        calls=calls.made,
        calls_ns=calls.last_ns - calls.first_ns,
        load=load,
        sink_cpu_ns=measured.cpu_ns if isinstance(receiver, Sink) else 0,
        receiver_cpu_ns=receiver_cpu_ns if records.sent_during_calls else 0,
        stores_cpu_ns=stores_cpu_ns,
        load_cpu_ns=calls.load_cpu_ns,
        cpu=sampler.account(calls.first_ns, calls.last_ns, drained.at_ns),
        rss_peak_bytes=rss_peak_bytes,
        whole_cpu_ns=tree.whole_cpu_ns,
        left_cpu_ns=context.driver.program.orphans_cpu_ns,
        ends_by=context.ends_by,
        singles=singles,
        stopped_ns=calls.stopped_ns,
    )


def _rss_bytes(tree: ProcessTree) -> int:
    """The most memory that one process has had resident so far; of several, what they have now, shared pages once.

    Where the kernel does not tell shared pages apart, it is the most that looks have seen, and these count for each.
    """
    if not tree.follow:
        return peak_rss_bytes(tree.root)
    return tree.pss_bytes() or tree.peak_rss_bytes


class _Used(Struct, frozen=True):
    """What machine, tool and companions had used at one moment."""

    machine: disturbance.MachineCpu
    tool_ns: int
    companions_ns: int
    stores_ns: int


def _used_by_now(context: TrialContext) -> _Used:
    machine, tool_ns = disturbance.machine_cpu(context.isolation.watched), time.process_time_ns()
    stores_ns = disturbance.programs_cpu_ns(context.stores)
    return _Used(machine, tool_ns, context.receiver.cpu_with_others_ns, stores_ns)


def _load_since(begun: _Used, context: TrialContext) -> disturbance.Load:
    """What else the machine did: its work less that of the workload, of its companions and of Tracetax."""
    loads = [context.driver.process.pid] if context.driver.loads else []
    own = disturbance.programs_cpu_ns([context.tree, *loads])
    own += disturbance.programs_cpu_ns(context.stores) - begun.stores_ns
    own += context.receiver.cpu_with_others_ns - begun.companions_ns
    own += time.process_time_ns() - begun.tool_ns
    now = disturbance.machine_cpu(context.isolation.watched)
    return disturbance.between(begun.machine, now, own, context.isolation.share)


class _Calls(Struct, frozen=True):
    """What was noted while the measured calls ran; moments are CLOCK_MONOTONIC."""

    made: int
    first_ns: int
    last_ns: int
    asked_ns: int
    """When it was asked what had arrived."""
    tool_cpu_ns: int
    """CPU of Tracetax's own process from the first call to the last."""
    load_cpu_ns: int
    receiver_cpu_before_ns: int
    """CPU that the receiver had used at the first call."""
    stores_cpu_before_ns: int
    stopped_ns: int
    """When the program was stopped after its last call; 0 where it goes on."""


def _call(context: TrialContext, records: RecordSource, sampler: Sampler) -> _Calls:
    """Let the workload make the measured calls, and ask at the last one what has arrived."""
    context.watch("calling")
    context.tree.excuse_ended()
    sampler.start()
    kind, parameters = declaration_of(context.parameters), context.parameters
    context.driver.say("measure")
    first_ns = context.driver.wait_for("first-call", context.limits.start, interval=0.001).at_ns
    if not kind.warms_up(parameters):  # it is the start that is measured
        first_ns = context.driver.program.started_ns
        sampler.counts_from(first_ns)
    sampler.began(first_ns)
    tool_at_first, receiver_cpu_before_ns = time.process_time_ns(), context.receiver.cpu_ns
    load_at_first, stores_cpu_before_ns = _load_cpu_ns(context), disturbance.programs_cpu_ns(context.stores)
    stops = kind.frozen_ns(parameters) is not None
    interval = FREEZE_SECONDS if stops else 0.02
    last = context.driver.wait_for("last-call", _calls_seconds(parameters, context.limits), interval=interval)
    stopped_ns = stop(context.tree) if stops else 0
    sampler.look(search=True)
    tool_cpu_ns, load_cpu_ns = time.process_time_ns() - tool_at_first, _load_cpu_ns(context) - load_at_first
    records.look_at_last_call()
    made = last.number("calls") if parameters.calls_vary else parameters.calls
    return _Calls(
        made=made,
        first_ns=first_ns,
        last_ns=last.at_ns,
        asked_ns=time.monotonic_ns(),
        tool_cpu_ns=tool_cpu_ns,
        load_cpu_ns=load_cpu_ns,
        receiver_cpu_before_ns=receiver_cpu_before_ns,
        stores_cpu_before_ns=stores_cpu_before_ns,
        stopped_ns=stopped_ns,
    )


def _load_cpu_ns(context: TrialContext) -> int:
    """CPU that the load has used by now; 0 where the program calls itself."""
    return disturbance.process_cpu_ns(context.driver.process.pid) if context.driver.loads else 0


def _calls_seconds(parameters: Parameters, limits: Limits) -> float:
    """How long the measured calls may take: what their kind allows them, and twice what the rate asks for."""
    seconds = limits.calls_base + declaration_of(parameters).longest_seconds(parameters)
    if parameters.rate != "full":
        seconds += 2 * parameters.calls / parameters.rate
    return seconds


def _end(context: TrialContext, records: RecordSource) -> Ending:
    """End the workload the ordinary way, and wait until its connections have ended."""
    context.watch("ending")
    records.ask_last()
    context.driver.say("drained")
    context.driver.wait_for("written", context.limits.write)
    ending = context.driver.end(context.limits.end, context.ends_by)
    deadline = time.monotonic() + CONNECTIONS_SECONDS
    while context.receiver.counts().open_connections and time.monotonic() < deadline:
        time.sleep(0.01)
    return ending


def _check_recorded(measured: PhaseReport, warmed: Warmed, config: Configuration) -> None:
    """Raise WorkloadFailed where the account of the warm-up never closed, so that no record is a measured call's."""
    if measured.phase == MEASURED:
        return
    arrived = measured.of(config.protocol).records
    text = f"of the {warmed.records:,} records of the warm-up, {arrived:,} arrived, and none of the measured calls"
    if arrived:
        raise WorkloadFailed("warm-up-loss", text)
    if reasons := of_other_http((measured.protocols,), received=0):
        raise WorkloadFailed(reasons[0].code, f"{text}: {reasons[0].text}")
    raise WorkloadFailed("nothing-recorded", f"{text}: is the method woven, and the name pattern right?")
