"""Starts the program of a trial: one that makes its calls itself, or a service, and the load that calls it."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from tracetax.child import Apart
from tracetax.companions.store import StoreServer
from tracetax.process import Process, clean_environment
from tracetax.run.equipment import Equipment
from tracetax.run.launch import LISTEN, driver_arguments
from tracetax.run.output import Flood
from tracetax.run.plan import TrialPlan
from tracetax.workloads.driver import Driver
from tracetax.workloads.kinds import DriverFiles

STATUS = "status.txt"


class ProgramStart(Struct, frozen=True):
    """What a trial's program is started with."""

    plan: TrialPlan
    equipment: Equipment
    command: tuple[str, ...]
    environment: dict[str, str]
    scratch: Path
    logs: Path
    stores: tuple[StoreServer, ...] = ()
    """Where it keeps its data, as far as these were started for the trial."""


@contextmanager
def started_program(start: ProgramStart, ports: Mapping[str, int], meanwhile: Callable[[], None]) -> Generator[Driver]:
    """The driver of a trial's program, which runs from now on and is ended at the end of the block.

    ``meanwhile`` is called while it is waited for.
    """
    equipment, logs, most = start.equipment, start.logs, start.plan.config.most_output_bytes
    if equipment.workload.service is None:
        driver = Driver(
            start.command,
            start.environment,
            logs / STATUS,
            logs,
            meanwhile=meanwhile,
            cores=equipment.isolation.workload,
        )
        with driver.process, Flood(driver.process, logs, most):
            yield driver
        return
    assert equipment.load
    program = Process(
        start.command,
        environment=start.environment,
        stdout=logs / "stdout.txt",
        stderr=logs / "stderr.txt",
        directory=Path(equipment.workload.directory or logs),
        cores=equipment.isolation.workload,
        apart=Apart(enters=equipment.enters),
    )
    with program, Flood(program, logs, most):
        files = DriverFiles(start.scratch / "workload", logs / STATUS, ports[LISTEN], program.started_ns)
        load = (str(equipment.load), *driver_arguments(start.plan, equipment, files))
        driver = Driver(
            load,
            clean_environment(os.environ, {}),
            logs / STATUS,
            logs,
            meanwhile=meanwhile,
            cores=equipment.isolation.companions,
            program=program,
        )
        with driver.process:
            yield driver
