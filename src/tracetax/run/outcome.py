"""From what the stages of a trial left to its record, verdicts included."""

from msgspec.structs import replace

from tracetax.ledger import account, together
from tracetax.machine.disturbance import cpu_pressure
from tracetax.results.records import CpuAccount, Disturbance, TrialRecord, WarmUp
from tracetax.run import verdicts as judge
from tracetax.run.plan import records_due, records_made, records_truncated
from tracetax.run.stages import Plan, TrialOutcome
from tracetax.workloads.driver import Driver
from tracetax.workloads.kinds import Measured


def finished(plan: Plan, record: TrialRecord, outcome: TrialOutcome, result: Measured) -> TrialRecord:
    """The record of a trial that ran to its end."""
    config, warmed = plan.config, outcome.warmed
    at_sink = not plan.slot.cell.use.backend  # a backend's counters know records only
    trees = plan.part.parameters.calls if plan.delivers and at_sink else 0
    ledger = account(
        outcome.measured.of(config.protocol),
        expected_records=plan.expected,
        expected_trees=trees,
        dropped_in_log=outcome.dropped,
        truncated=records_truncated(config, plan.part) if plan.delivers else 0,
        made=records_made(config, plan.part),
        due=records_due(config, plan.part),
    )
    # metrics and logs need not travel on the protocol that carries the records
    ledger = replace(ledger, other_bytes=outcome.measured.of(None).other_bytes)
    warm_ledger = account(
        outcome.before.of(config.protocol),
        expected_records=warmed.records,
        expected_trees=warmed.calls if plan.delivers and at_sink else 0,
        dropped_in_log=outcome.dropped_before,
        made=warmed.calls * config.records_per_call(plan.part.parameters.depth),
    )
    warm = WarmUp(
        calls=warmed.calls,
        bursts=warmed.bursts,
        how=warmed.how,
        driver_level=warmed.driver_level,
        method_level=warmed.method_level,
        ledger=warm_ledger,
        rest_ns=outcome.rest.waited_ns,
        rest_compiling_ns=outcome.rest.compiling_ns,
        at_rest=outcome.rest.reached,
    )
    protocols = outcome.measured.protocols.items()
    elsewhere = together(count for name, count in protocols if config.protocol not in (None, name))
    found = [
        *judge.of_warm_up(warm, config, connected=warmed.connected, delivers=plan.delivers),
        *judge.of_other_http((outcome.before.protocols, outcome.measured.protocols), received=ledger.received),
        *judge.of_records(ledger, config, backend=plan.slot.cell.use.backend),
        *judge.of_sample(ledger, warm_ledger, config),
        *judge.of_metrics(outcome.measured.of(config.protocol), ledger, warm_ledger, config),
        *judge.of_other_protocols(elsewhere, config),
        *judge.of_drain(ledger, config, outcome.arrived_by_drained, outcome.drained),
        *judge.of_ending(outcome.ending),
    ]
    load = outcome.load
    found += judge.of_load(load)
    failed = any(verdict.severity == "error" for verdict in found)
    return replace(
        record,
        status="failed" if failed else "ok",
        verdicts=tuple(found),
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
        cpu=_with_exact_callers(outcome.cpu, result.callers_cpu_ns) if outcome.cpu else None,
        rss_peak_bytes=outcome.rss_peak_bytes,
        receiver_cpu_ns=outcome.receiver_cpu_ns,
        heap=result.heap,
        allocated_bytes_per_call=result.allocated_bytes_per_call,
        clock_resolution_ns=result.clock_resolution_ns,
        clock_read_ns=result.clock_read_ns,
        snapshots=result.snapshots,
        jvm_flags=result.jvm_flags,
        versions=result.versions,
        moments=replace(record.moments, drained=outcome.drained.at_ns),
        disturbance=Disturbance(
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
        ),
    )


def _with_exact_callers(cpu: CpuAccount, callers_ns: int) -> CpuAccount:
    """The account with what the callers read from their own clocks: exactly their calls, however few they were."""
    return replace(
        cpu,
        to_last_call=replace(cpu.to_last_call, caller=callers_ns),
        to_drained=replace(cpu.to_drained, caller=callers_ns),
    )


def with_process(record: TrialRecord, driver: Driver) -> TrialRecord:
    """Add what the operating system and the status file tell about the workload's process."""
    ending = driver.process.poll()
    return replace(
        record,
        moments=replace(
            record.moments,
            spawned=driver.process.started_ns,
            main=driver.moment("main"),
            ready=driver.moment("ready"),
            first_monitored=driver.moment("first-monitored"),
            warm=driver.moment("warmed"),
            first_call=driver.moment("first-call"),
            last_call=driver.moment("last-call"),
            exited=ending.ended_ns if ending else 0,
        ),
        exit_status=ending.status if ending else None,
        exit_cpu_ns=ending.cpu_ns if ending else 0,
        exit_max_rss_bytes=ending.max_rss_bytes if ending else 0,
    )
