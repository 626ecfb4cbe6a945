"""The kinds of workload, each a module of this folder by the name of its folder in ``workloads/``."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct

from tracetax.errors import UserError
from tracetax.model import Parameters
from tracetax.program import Workload
from tracetax.results.records import Durations, HeapUse, SteadyPart, Verdict

MARKS = "marks.txt"
"""The file in a trial's folder into which a program may write moments of its start."""


class Measured(Struct, frozen=True):
    """The values of one trial."""

    steady: SteadyPart
    service: Durations
    response: Durations | None
    lateness: Durations | None
    second_half_mean_ns: float
    in_calls_ns: int
    callers_cpu_ns: int
    """By the callers' own clocks, from their first call to their last."""
    allocated_bytes_per_call: float | None
    """None where the program cannot tell what a thread allocates."""
    heap: HeapUse | None
    """None where the program does not tell of each collection."""
    clock_resolution_ns: float
    clock_read_ns: float
    snapshots: dict[str, dict[str, float]]
    jvm_flags: str
    versions: dict[str, str]
    inside: Durations | None = None
    """How long the work of a call took by itself, where the program tells it."""
    marks: dict[str, int] = {}
    """Moments of the program's start that it tells, CLOCK_MONOTONIC ns, by their names."""
    verdicts: tuple[Verdict, ...] = ()
    """What the driver's own account says of its calls."""


class DriverFiles(Struct, frozen=True):
    """What a trial's driver is told of its surroundings."""

    output: Path
    """The folder that it writes its files into."""
    status: Path
    port: int = 0
    """Of a service that it is to call, on 127.0.0.1; 0 where it calls the program that it is."""
    spawned_ns: int = 0
    """When the service was started, CLOCK_MONOTONIC; 0 where it calls the program that it is."""


class Kind(Protocol):
    """What the module of a kind offers."""

    def arguments(self, parameters: Parameters, files: DriverFiles, workload: Workload) -> tuple[str, ...]:
        """The options of a trial's driver. What it reads is written beside the folder of its output."""
        ...

    def collect(self, scratch: Path, trial: int, parameters: Parameters) -> Measured:
        """Read the driver's output under ``scratch``, reduce it to Parquet there, drop the raw samples.

        Raises WorkloadFailed where the output is missing, broken or not what was asked for.
        """
        ...


def kind_of(workload: Workload) -> Kind:
    """The kind of a workload, whose name is the first part of its key. Raises UserError where there is none."""
    name = workload.key.partition("/")[0]
    place = f"{__package__}.{name}"
    module = import_module(place) if find_spec(place) else None
    if not all(hasattr(module, function) for function in ("arguments", "collect")):
        raise UserError(
            f'{workload.key} is of the kind "{name}", which Tracetax does not know: its module {place} would have to '
            "say what its driver is told and what it leaves."
        )
    return cast(Kind, module)
