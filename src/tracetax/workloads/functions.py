"""Functions: what the load is told, and what it and the host leave."""

from pathlib import Path

from msgspec.structs import replace

from tracetax.kinds.functions import LONGEST_ANSWER_SECONDS, FunctionParameters
from tracetax.program import Workload
from tracetax.results.records import Verdict
from tracetax.workloads import requests
from tracetax.workloads.driver import whole_number
from tracetax.workloads.kinds import MARKS, DriverFiles, Measured

SHOWN_LETTERS = 80


def arguments(parameters: FunctionParameters, files: DriverFiles, workload: Workload) -> tuple[str, ...]:
    """The load's options: as of requests, and from when on a cold start counts."""
    return (
        *requests.arguments(parameters, files, workload),
        "--inside",
        *("--time-out", f"{LONGEST_ANSWER_SECONDS}s", "--latest", f"{LONGEST_ANSWER_SECONDS}s"),
        *(("--since", str(files.spawned_ns)) if parameters.cold else ()),
    )


def collect(scratch: Path, trial: int, parameters: FunctionParameters) -> Measured:
    """Read what load and host wrote under ``scratch``, reduce it to Parquet there, drop the raw samples.

    Raises WorkloadFailed where the load's output is missing, broken or not what was asked for.
    """
    measured = requests.collect(scratch, trial, parameters)
    marks, problems = read_marks(scratch / MARKS)
    verdicts = [Verdict("marks-broken", "warning", text) for text in problems]
    return replace(measured, marks=marks, verdicts=(*measured.verdicts, *verdicts))


def read_marks(path: Path) -> tuple[dict[str, int], tuple[str, ...]]:
    """The moments that a host told, each the first time, and what is wrong with the file, in sentences."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}, ()
    marks: dict[str, int] = {}
    for line in lines:
        name, _, at = line.partition(" ")
        moment = whole_number(at)
        if moment is None or not name.replace("-", "").isalpha():
            return marks, (f'the host wrote a line that is no moment into its file of marks: "{line[:SHOWN_LETTERS]}"',)
        marks.setdefault(name, moment)
    return marks, ()
