"""One trial, in order: fresh sink, fresh workload, warm-up, measured calls, drain, ordinary end, final ledger."""

import errno
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog import fill
from tracetax.companions.sink import PhaseReport, Sink, SinkLost
from tracetax.ledger import Ledger, account
from tracetax.machine import disturbance
from tracetax.model import Configuration, Part
from tracetax.process import Ending, clean_environment
from tracetax.results.folder import RunFolder, disk_errors
from tracetax.results.records import Disturbance, Moments, TrialRecord, Verdict, WarmUp
from tracetax.run import verdicts as judge
from tracetax.run.bench import Bench
from tracetax.run.drain import Drained, drain
from tracetax.run.drops import DropLog
from tracetax.run.plan import Slot, expected_records
from tracetax.run.warm_up import Warmed, warm_up
from tracetax.workloads import calltree
from tracetax.workloads.calltree import Driver, WorkloadFailed
from tracetax.workloads.calltree_results import Measured, collect

MEASURED = "measured"
LOG_TAIL_LINES = 12
LOG_TAIL_BYTES = 16 << 10


class Plan(Struct, frozen=True):
    """One trial to be made."""

    number: int
    slot: Slot
    part: Part
    config: Configuration

    @property
    def delivers(self) -> bool:
        """Whether records are promised one by one."""
        return self.expected > 0

    @property
    def expected(self) -> int:
        """Records that the measured calls must produce."""
        return expected_records(self.config, self.part)


class Outcome(Struct, frozen=True):
    """What came of a trial that ran to its end."""

    warmed: Warmed
    drained: Drained
    ending: Ending
    before: PhaseReport
    measured: PhaseReport
    dropped_before: int
    dropped: int
    arrived_by_last_call: int
    asked_ns: int
    tool_cpu_ns: int
    calls_ns: int
    load: disturbance.Load
    sink_cpu_ns: int


def run_trial(plan: Plan, bench: Bench, folder: RunFolder, watch: Callable[[str], None]) -> TrialRecord:
    """Make one trial and keep it in the run folder, whatever came of it.

    ``watch`` is told what is going on. A failed trial is a record with an error verdict; only what would fail every
    trial (a full disk, an interrupt) is raised.
    """
    scratch = folder.scratch(plan.number)
    logs = folder.logs(plan.number)
    os.sync()
    record = TrialRecord(
        number=plan.number,
        block=plan.slot.block,
        block_size=plan.slot.block_size,
        part=plan.part.name,
        agent=plan.slot.cell.use.agent,
        configuration=plan.slot.cell.use.configuration,
        role=plan.slot.cell.role,
        heap_bytes=plan.slot.cell.heap_bytes,
        parameters=plan.part.parameters,
        attempt=plan.slot.attempt,
        status="failed",
        verdicts=(),
        command=(),
        environment={},
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        moments=Moments(spawned=0),
    )
    with disk_errors(folder.path):
        record = _attempt(plan, bench, record, scratch, logs, watch)
    folder.keep_trial(record)
    return record


def _attempt(
    plan: Plan, bench: Bench, record: TrialRecord, scratch: Path, logs: Path, watch: Callable[[str], None]
) -> TrialRecord:
    """Run the trial's processes; turns what they did wrong into an error verdict."""
    started: list[Driver] = []
    try:
        with Sink(
            bench.sink,
            depth=plan.part.parameters.depth,
            record_name=fill(plan.config.record_name or "", calltree.placeholders()),
            error_log=logs / "sink.txt",
        ) as sink:
            command, environment = command_line(plan, bench, sink.ports, scratch, logs)
            record = replace(record, command=command, environment=environment)
            watch("starting")
            sink.next_phase("warm-up")
            whole_environment = clean_environment(os.environ, environment)
            driver = Driver(command, whole_environment, logs / "status.txt", logs, meanwhile=sink.check)
            started.append(driver)
            with driver.process:
                outcome = _conduct_or_end(plan, bench, sink, driver, logs, watch)
        result = collect(scratch, plan.number, plan.part.parameters)
        record = _finished(plan, record, outcome, result)
    except (WorkloadFailed, SinkLost) as failure:
        code = failure.code if isinstance(failure, WorkloadFailed) else "sink-lost"
        tail = last_lines(logs)
        if os.strerror(errno.ENOSPC) in f"{failure}{tail}":
            raise OSError(errno.ENOSPC, str(failure)) from failure
        text = f"{failure}\n{tail}".rstrip()
        record = replace(record, verdicts=(Verdict(code=code, severity="error", text=text),))
        shutil.rmtree(scratch / "workload", ignore_errors=True)
    if started:
        record = _with_process(record, started[0])
    return record


def command_line(
    plan: Plan, bench: Bench, ports: dict[str, int], scratch: Path, logs: Path
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The JVM's command and what its environment gets beyond the clean one."""
    agent = bench.agents[plan.config.agent]
    output = scratch / "workload"
    output.mkdir()
    expected = plan.part.parameters.invocations * plan.config.records_per_invocation
    values = {
        **calltree.placeholders(),
        **{f"artifacts.{name}": str(path) for name, path in bench.artifacts.get(agent.key, {}).items()},
        **sink_placeholders(ports),
        "expected.records": str(expected),
        "expected.records.next_power_of_two": str(1 << max(0, expected - 1).bit_length()),
        "agent.files": str(bench.agents_root / agent.key / "files"),
        "trial.dir": str(scratch),
    }
    command = (
        str(bench.java),
        *calltree.jvm_flags(bench.jvm, plan.slot.cell.heap_bytes, bench.cores, logs / "hs_err.log"),
        *(fill(flag, values) for flag in plan.config.jvm),
        *("-cp", str(bench.classes)),
        calltree.MAIN_CLASS,
        *calltree.arguments(plan.part.parameters, output, logs / "status.txt"),
    )
    return command, {name: fill(value, values) for name, value in plan.config.environment.items()}


def sink_placeholders(ports: dict[str, int]) -> dict[str, str]:
    """``sink.<protocol>`` as an address and ``sink.<protocol>.port``, for every protocol that the sink speaks."""
    values = {"sink.host": "127.0.0.1"}
    for protocol, port in ports.items():
        name = protocol.replace("-", "_")
        values[f"sink.{name}"] = f"http://127.0.0.1:{port}"
        values[f"sink.{name}.port"] = str(port)
    return values


def _conduct_or_end(
    plan: Plan, bench: Bench, sink: Sink, driver: Driver, logs: Path, watch: Callable[[str], None]
) -> Outcome:
    """Lead the workload; one that hangs is asked what it is doing, for its log, and ended: TERM, then KILL."""
    try:
        return _conduct(plan, bench, sink, driver, logs, watch)
    except WorkloadFailed as failure:
        if failure.code == "jvm-hangs":
            driver.process.ask_for_threads()
            driver.process.stop(grace=0.0, term_grace=bench.limits.term)
        raise


def _conduct(plan: Plan, bench: Bench, sink: Sink, driver: Driver, logs: Path, watch: Callable[[str], None]) -> Outcome:
    """Lead the running workload through its stages."""
    limits, config, parameters = bench.limits, plan.config, plan.part.parameters
    drops = DropLog(config.drop_log if plan.delivers else None, (logs / "stdout.txt", logs / "stderr.txt"))
    machine_before, tool_before = disturbance.machine_cpu(), time.process_time_ns()
    driver.wait_for("ready", limits.start)
    warmed = warm_up(driver, sink, drops, config, parameters, delivers=plan.delivers, limits=limits, watch=watch)
    held_back = plan.delivers and config.held_until_exit > 0
    if held_back:
        sink.next_phase_after(warmed.records, MEASURED)
        before = None
    else:
        before = sink.next_phase(MEASURED)
    dropped_before = drops.total()

    watch("calling")
    driver.say("measure")
    first = driver.wait_for("first-call", limits.start, interval=0.001)
    tool_at_first = time.process_time_ns()
    calls_limit = limits.calls_base + parameters.invocations * limits.calls_per_invocation
    calls_limit += 2 * parameters.calls * parameters.method_time_ns / parameters.threads / 1e9
    if parameters.rate != "full":
        calls_limit += 2 * parameters.calls / parameters.rate
    last = driver.wait_for("last-call", calls_limit)
    tool_cpu_ns = time.process_time_ns() - tool_at_first
    at_last_call, asked_ns = sink.counts(), time.monotonic_ns()

    drained = drain(
        sink,
        drops,
        config,
        phase=MEASURED,
        expected=plan.expected,
        dropped_before=dropped_before,
        last_call_ns=last.at_ns,
        limits=limits,
        watch=watch,
    )
    own = disturbance.process_cpu_ns(driver.process.pid) + disturbance.process_cpu_ns(sink.process.pid)
    own += time.process_time_ns() - tool_before
    load = disturbance.between(machine_before, disturbance.machine_cpu(), own)
    watch("ending")
    driver.say("drained")
    driver.wait_for("written", limits.write)
    ending = driver.process.stop(grace=limits.end)
    _until_connections_end(sink, seconds=2.0)
    measured = sink.stop()
    if before is None:
        before = next((phase for phase in measured.earlier if phase.phase == "warm-up"), measured)
    if measured.phase != MEASURED:
        raise WorkloadFailed(
            "nothing-recorded" if not measured.of(config.protocol).records else "warm-up-loss",
            f"of the {warmed.records:,} records of the warm-up, {measured.of(config.protocol).records:,} arrived, "
            "and none of the measured calls",
        )
    return Outcome(
        warmed=warmed,
        drained=drained,
        ending=ending,
        before=before,
        measured=measured,
        dropped_before=dropped_before,
        dropped=drops.total(ended=True) - dropped_before,
        arrived_by_last_call=at_last_call.records if at_last_call.phase == MEASURED else 0,
        asked_ns=asked_ns,
        tool_cpu_ns=tool_cpu_ns,
        calls_ns=last.at_ns - first.at_ns,
        load=load,
        sink_cpu_ns=measured.cpu_ns,
    )


def _until_connections_end(sink: Sink, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while sink.counts().open_connections and time.monotonic() < deadline:
        time.sleep(0.01)


def _finished(plan: Plan, record: TrialRecord, outcome: Outcome, result: Measured) -> TrialRecord:
    """The record of a trial that ran to its end."""
    config, warmed = plan.config, outcome.warmed
    trees = plan.part.parameters.calls if plan.delivers else 0
    ledger = account(
        outcome.measured.of(config.protocol),
        expected_records=plan.expected,
        expected_trees=trees,
        dropped_in_log=outcome.dropped,
    )
    ledger = replace(ledger, other_bytes=_other_bytes(outcome.measured))
    warm_ledger: Ledger = account(
        outcome.before.of(config.protocol),
        expected_records=warmed.records,
        expected_trees=warmed.calls if plan.delivers else 0,
        dropped_in_log=outcome.dropped_before,
    )
    warm = WarmUp(
        calls=warmed.calls,
        bursts=warmed.bursts,
        how=warmed.how,
        driver_level=warmed.driver_level,
        method_level=warmed.method_level,
        ledger=warm_ledger,
    )
    found = [
        *judge.of_warm_up(warm, config, connected=warmed.connected, delivers=plan.delivers),
        *judge.of_records(ledger, config),
        *judge.of_ending(outcome.ending),
    ]
    if not outcome.drained.within_limit:
        found.append(Verdict(code="drain-limit", severity="warning", text="records still arrived at the drain limit"))
    load = outcome.load
    if load.disturbed:
        text = f"{load.steal:.2f} cores stolen and {load.other:.2f} cores used by others during the trial"
        found.append(Verdict(code="disturbed", severity="warning", text=text))
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
            pressure_cpu_avg10=disturbance.cpu_pressure(),
            disturbed=load.disturbed,
        ),
    )


def _other_bytes(report: PhaseReport) -> dict[str, int]:
    """Metrics and logs over all protocols: they need not travel on the one that carries the records."""
    total: dict[str, int] = {}
    for count in report.protocols.values():
        for signal_name, size in count.other_bytes.items():
            total[signal_name] = total.get(signal_name, 0) + size
    return total


def _with_process(record: TrialRecord, driver: Driver) -> TrialRecord:
    """Add what the operating system and the status file tell about the workload's process."""
    ending = driver.process.poll()
    return replace(
        record,
        moments=replace(
            record.moments,
            spawned=driver.process.started_ns,
            main=driver.moment("main"),
            ready=driver.moment("ready"),
            warm=driver.moment("warmed"),
            first_call=driver.moment("first-call"),
            last_call=driver.moment("last-call"),
            exited=ending.ended_ns if ending else 0,
        ),
        exit_status=ending.status if ending else None,
        exit_cpu_ns=ending.cpu_ns if ending else 0,
        exit_max_rss_bytes=ending.max_rss_bytes if ending else 0,
    )


def last_lines(logs: Path) -> str:
    """The tail of what the workload printed, for the error message."""
    for name in ("stderr.txt", "stdout.txt"):
        file = logs / name
        if file.is_file() and (lines := tail_of(file).splitlines()):
            tail = "\n".join(f"    {line}" for line in lines[-LOG_TAIL_LINES:])
            return f"  last lines of {name}:\n{tail}\n  whole log: {file}"
    return f"  its logs are empty: {logs}"


def tail_of(file: Path) -> str:
    """The end of a log of any size."""
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - LOG_TAIL_BYTES))
        return stream.read().decode(errors="replace")
