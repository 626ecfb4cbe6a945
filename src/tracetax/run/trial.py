"""One trial, in order: fresh sink, fresh workload, warm-up, measured calls, drain, ordinary end, final ledger."""

import errno
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from tracetax.companions.receiver import Receiver
from tracetax.companions.sink import SinkLost
from tracetax.machine.disturbance import combined_load
from tracetax.printable import printable_lines
from tracetax.results.folder import RunFolder, disk_errors
from tracetax.results.records import Moments, TrialRecord, Verdict
from tracetax.run.around import BEFORE, around
from tracetax.run.backends import receiver
from tracetax.run.bounding import bounded, with_killed
from tracetax.run.building import LOG, Built, build_program
from tracetax.run.context import WARM_UP
from tracetax.run.equipment import Equipment
from tracetax.run.files import RecordsFolder, records_folder
from tracetax.run.hosted import hosted
from tracetax.run.launch import LISTEN, by_hand, command_line, listening, whole_environment
from tracetax.run.outcome import finished, with_process
from tracetax.run.output import STREAMS, cut, last_lines
from tracetax.run.plan import TrialPlan, having_made
from tracetax.run.program import ProgramStart, started_program
from tracetax.run.stages import conduct_or_end
from tracetax.run.stores import concealed, started_stores
from tracetax.workloads.driver import CALLS_FAILED, ENDED, LOAD_LOG, Driver, WorkloadFailed
from tracetax.workloads.kinds import kind_of

COMMAND = "command.sh"
"""What starts the trial's workload by hand."""
PROGRAM = "program"
"""The folder in which a trial builds its program."""


def run_trial(plan: TrialPlan, equipment: Equipment, folder: RunFolder, watch: Callable[[str], None]) -> TrialRecord:
    """Make one trial and keep it in the run folder, whatever came of it.

    ``watch`` is told what is going on. A failed trial is a record with an error verdict; only what would fail every
    trial (a full disk, an interrupt) is raised.
    """
    equipment = hosted(equipment, plan.part.parameters)
    scratch = folder.scratch(plan.number)
    logs = folder.logs(plan.number)
    os.sync()
    record = TrialRecord(
        number=plan.number,
        block=plan.turn.block,
        block_size=plan.turn.block_size,
        cell=plan.cell,
        parameters=plan.part.parameters,
        attempt=plan.turn.attempt,
        status="failed",
        verdicts=(),
        command=(),
        environment={},
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        moments=Moments(spawned=0),
    )
    with disk_errors(folder.path), records_folder(scratch) as records, bounded(plan.part.parameters) as group:
        equipment = replace(equipment, enters=group.entrances if group else ())
        if why := equipment.why_not(plan.use):
            record = replace(record, verdicts=(Verdict("not-prepared", "error", why),))
        else:
            record = with_killed(_attempt(plan, equipment, record, scratch, logs, records, watch), group)
        shutil.rmtree(scratch / PROGRAM, ignore_errors=True)
        cut(logs)
    folder.keep_trial(record)
    return record


def _attempt(
    plan: TrialPlan,
    equipment: Equipment,
    record: TrialRecord,
    scratch: Path,
    logs: Path,
    records: RecordsFolder,
    watch: Callable[[str], None],
) -> TrialRecord:
    """Run the trial's processes; turns what they did wrong into an error verdict."""
    started: list[Driver] = []
    complaints: list[str] = []
    built: Built | None = None
    try:
        if plan.part.parameters.start_up_built:
            watch("building its program")
            built = build_program(plan, equipment, scratch / PROGRAM, logs)
            record = replace(record, building=built.building)
        if plan.use.backend:
            watch(f"starting {plan.use.backend}")
        if equipment.stores:
            watch("starting its stores")
        with (
            started_stores(equipment, scratch, logs) as stores,
            receiver(plan, equipment, scratch, logs) as sink,
        ):
            equipment = replace(equipment, stores=stores.urls)
            own = built.class_path if built else ()
            ports = dict(sink.ports) | listening(equipment.workload.service)
            command, environment = command_line(plan, equipment, ports, scratch, logs, records.path, own)
            record = replace(record, command=command, environment=concealed(environment, stores.urls))
            watch("starting")
            sink.next_phase(WARM_UP)
            if plan.config.scrape:
                sink.scrape(plan.config.scrape)
            everything = whole_environment(equipment, environment, os.environ)
            shown_environment = environment if equipment.workload.own else everything
            folders, directory = (scratch, logs, records.path), equipment.workload.directory
            script = scratch / COMMAND
            text = by_hand(plan, command, shown_environment, ports, folders, stores.urls, directory)
            script.write_text(text, encoding="utf-8")
            script.chmod(0o755)

            def meanwhile() -> None:
                stores.check()
                _check(sink, records if plan.config.writes_files else None)

            start = ProgramStart(plan, equipment, command, everything, scratch, logs, stores.servers)
            with (
                around(equipment.workload, ports.get(LISTEN, 0), logs, complaints.append),
                started_program(start, ports, meanwhile) as driver,
            ):
                started.append(driver)
                outcome = conduct_or_end(start, sink, driver, records, watch)
        if built:
            outcome = replace(outcome, load=combined_load(built.load, outcome.load))
        plan = having_made(plan, outcome.calls)
        record = replace(record, parameters=plan.part.parameters)
        result = kind_of(equipment.workload).collect(scratch, plan.number, plan.part.parameters)
        record = _with_log(finished(plan, record, outcome, result, equipment.threads), logs)
    except (WorkloadFailed, SinkLost) as failure:
        code = failure.code
        streams = (*STREAMS, LOAD_LOG) if code == ENDED else STREAMS  # a load that ends by itself says why there alone
        tail = last_lines(logs, streams if started else (LOG, BEFORE))
        if os.strerror(errno.ENOSPC) in f"{failure}{tail}":
            raise OSError(errno.ENOSPC, str(failure)) from failure
        text = f"{printable_lines(str(failure))}\n{tail}".rstrip()
        record = replace(record, verdicts=(Verdict(code=code, severity="error", text=text),))
        shutil.rmtree(scratch / "workload", ignore_errors=True)
    for complaint in complaints:
        record = replace(record, verdicts=(*record.verdicts, Verdict("after-failed", "warning", complaint)))
    if started:
        record = with_process(record, started[0])
    return record


def _with_log(record: TrialRecord, logs: Path) -> TrialRecord:
    """The record; where calls failed, with what the workload printed last: the cause may stand there."""
    codes = [verdict.code for verdict in record.verdicts]
    if CALLS_FAILED not in codes:
        return record
    place = codes.index(CALLS_FAILED)
    verdict = record.verdicts[place]
    quoting = replace(verdict, text=f"{verdict.text}\n{last_lines(logs, STREAMS)}")
    return replace(record, verdicts=(*record.verdicts[:place], quoting, *record.verdicts[place + 1 :]))


def _check(sink: Receiver, records: RecordsFolder | None) -> None:
    """Raise where waiting for the workload has become useless: SinkLost, or OSError where the disk is full."""
    sink.check()
    if records:
        records.check_disk()
