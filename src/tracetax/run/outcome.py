"""From what the stages of a trial left to its record, verdicts included."""

from msgspec.structs import replace

from tracetax.kinds import declaration_of
from tracetax.ledger import Ledger, account, summed
from tracetax.machine.disturbance import cpu_pressure
from tracetax.program import ThreadNames
from tracetax.results.records import CpuAccount, CpuTimes, Disturbance, TrialRecord, Verdict, WarmUp
from tracetax.run import verdicts as judge
from tracetax.run.freezing import of_frozen
from tracetax.run.plan import TrialPlan, records_due
from tracetax.run.stages import TrialOutcome
from tracetax.workloads.driver import Driver
from tracetax.workloads.kinds import Measured


def finished(
    plan: TrialPlan, record: TrialRecord, outcome: TrialOutcome, result: Measured, threads: ThreadNames
) -> TrialRecord:
    """The record of a trial that ran to its end; ``threads`` are the names by which its CPU was told apart."""
    ledger, warm = _ledger(plan, outcome), _warm_up(plan, outcome)
    verdicts = [*result.verdicts, *_verdicts(plan, outcome, ledger, warm)]
    failed = any(verdict.severity == "error" for verdict in verdicts)
    return replace(
        record,
        status="failed" if failed else "ok",
        verdicts=tuple(verdicts),
        warm_up=warm,
        ledger=ledger,
        arrived_by_last_call=outcome.arrived_by_last_call,
        arrived_asked_ns=outcome.asked_ns,
        steady=result.steady,
        service=result.service,
        response=result.response,
        lateness=result.lateness,
        second_half_mean_ns=result.second_half_mean_ns,
        in_calls_ns=result.in_calls_ns,
        cpu=account_with_callers(outcome.cpu, result.callers_cpu_ns, threads) if outcome.cpu else None,
        rss_peak_bytes=outcome.rss_peak_bytes,
        receiver_cpu_ns=outcome.receiver_cpu_ns,
        stores_cpu_ns=outcome.stores_cpu_ns,
        load_cpu_ns=outcome.load_cpu_ns,
        heap=result.heap,
        allocated_bytes_per_call=result.allocated_bytes_per_call,
        clock_resolution_ns=result.clock_resolution_ns,
        clock_read_ns=result.clock_read_ns,
        snapshots=result.snapshots,
        jvm_flags=result.jvm_flags,
        versions=result.versions,
        moments=replace(record.moments, drained=outcome.drained.at_ns),
        disturbance=_disturbance(outcome),
        singles=outcome.singles,
        inside=result.inside,
        marks=result.marks,
        stopped_ns=outcome.stopped_ns,
    )


def _whole_trees(plan: TrialPlan, calls: int) -> int:
    """Call trees that must arrive whole; 0 where none is promised, or where records only are counted."""
    looked_at = declaration_of(plan.part.parameters).whole_trees and not plan.use.backend
    return calls if plan.delivers and looked_at else 0


def _ledger(plan: TrialPlan, outcome: TrialOutcome) -> Ledger:
    """The account of the measured calls."""
    config, parameters = plan.config, plan.part.parameters
    calls, kind = parameters.calls, declaration_of(parameters)
    ledger = account(
        outcome.measured.of(config.protocol),
        expected_records=plan.expected,
        expected_trees=_whole_trees(plan, calls),
        dropped_in_log=outcome.dropped,
        truncated=kind.records_truncated(parameters, config, calls) if plan.delivers else 0,
        made=kind.records_made(parameters, config, calls),
        due=records_due(config, plan.part, outcome.calls_ns),
    )
    # metrics and logs need not travel on the protocol that carries the records
    return replace(ledger, other_bytes=outcome.measured.of(None).other_bytes)


def _warm_up(plan: TrialPlan, outcome: TrialOutcome) -> WarmUp:
    """How the workload became warm, with the account of the warm-up's records."""
    warmed, parameters = outcome.warmed, plan.part.parameters
    ledger = account(
        outcome.before.of(plan.config.protocol),
        expected_records=warmed.records,
        expected_trees=_whole_trees(plan, warmed.calls),
        dropped_in_log=outcome.dropped_before,
        made=declaration_of(parameters).records_made(parameters, plan.config, warmed.calls),
    )
    return WarmUp(
        calls=warmed.calls,
        bursts=warmed.bursts,
        how=warmed.how,
        driver_level=warmed.driver_level,
        method_level=warmed.method_level,
        ledger=ledger,
        rest_ns=outcome.rest.waited_ns,
        rest_compiling_ns=outcome.rest.compiling_ns,
        at_rest=outcome.rest.reached,
    )


def _verdicts(plan: TrialPlan, outcome: TrialOutcome, ledger: Ledger, warm: WarmUp) -> list[Verdict]:
    """Every judgement on the trial."""
    config, protocols = plan.config, outcome.measured.protocols
    learned = declaration_of(plan.part.parameters).is_learned(plan.part.parameters)
    frozen_ns = declaration_of(plan.part.parameters).frozen_ns(plan.part.parameters)
    elsewhere = summed(count for name, count in protocols.items() if config.protocol not in (None, name))
    return [
        *judge.of_warm_up(warm, config, connected=outcome.warmed.connected, delivers=plan.delivers),
        *judge.of_other_http((outcome.before.protocols, protocols), received=ledger.received),
        *(
            of_frozen(ledger, config, frozen_ns)
            if frozen_ns is not None
            else judge.of_records(ledger, config, backend=plan.use.backend, learned=learned)
        ),
        *judge.of_sample(ledger, warm.ledger, config),
        *judge.of_metrics(outcome.measured.of(config.protocol), ledger, warm.ledger, config),
        *judge.of_other_protocols(elsewhere, config),
        *judge.of_drain(ledger, config, outcome.arrived_by_drained, outcome.drained),
        *judge.of_ending(outcome.ending, outcome.ends_by, own=learned),
        *judge.of_processes(outcome.whole_cpu_ns, outcome.ending, outcome.left_cpu_ns),
        *judge.of_load(outcome.load),
    ]


def _disturbance(outcome: TrialOutcome) -> Disturbance:
    """What else the machine did."""
    load = outcome.load
    return Disturbance(
        steal=load.steal,
        other_cpu=load.other,
        tool_cpu=outcome.tool_cpu_ns / max(1, outcome.calls_ns),
        sink_cpu_ns=outcome.sink_cpu_ns,
        pressure_cpu_avg10=cpu_pressure(),
        disturbed=load.disturbed,
        interrupts=load.interrupts,
        kernel_threads=load.kernel,
        throttled_ns=load.throttled_ns,
        swapped_bytes=load.swapped_bytes,
        involuntary_switches=outcome.ending.involuntary_switches,
    )


def account_with_callers(cpu: CpuAccount, callers_ns: int, threads: ThreadNames) -> CpuAccount:
    """The account with what the callers read from their own clocks: exactly their calls, however few they were.

    Where the callers' threads have no names that are known, all threads were taken for the agent's. What the callers
    used is taken off that; the rest is the agent's, and the little that the runtime's own threads do.
    """

    def exact(times: CpuTimes) -> CpuTimes:
        agent = times.agent if threads.caller else max(0, times.agent - callers_ns)
        return replace(times, caller=callers_ns, agent=agent)

    return replace(cpu, to_last_call=exact(cpu.to_last_call), to_drained=exact(cpu.to_drained))


def with_process(record: TrialRecord, driver: Driver) -> TrialRecord:
    """Add what the operating system and the status file tell about the workload's process."""
    ending = driver.program.poll()
    return replace(
        record,
        moments=replace(
            record.moments,
            spawned=driver.program.started_ns,
            main=0 if driver.loads else driver.moment("main"),
            ready=driver.moment("ready"),
            # the first call of a service is the question whether it is ready, the first time that it is answered so
            first_monitored=driver.moment("answered") or driver.moment("ready" if driver.loads else "first-monitored"),
            warm=driver.moment("warmed"),
            first_call=driver.moment("first-call"),
            last_call=driver.moment("last-call"),
            exited=ending.ended_ns if ending else 0,
        ),
        exit_status=ending.status if ending else None,
        exit_cpu_ns=ending.cpu_ns if ending else 0,
        exit_max_rss_bytes=ending.max_rss_bytes if ending else 0,
    )
