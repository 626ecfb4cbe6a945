"""What a trial's program may use, and what it finds: a control group of its own, and a page cache that is empty."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from tracetax.errors import ExitCode, UserError
from tracetax.kinds import declaration_of
from tracetax.machine.control_group import ControlGroup, control_group
from tracetax.model import Experiment, Parameters
from tracetax.results.records import TrialRecord, Verdict
from tracetax.words import plural, was

DROP = Path("/proc/sys/vm/drop_caches")
EVERYTHING = "3"
"""Files' contents, and what is known of folders."""


@contextmanager
def bounded(parameters: Parameters) -> Generator[ControlGroup | None]:
    """The group that a trial's program enters; None where nothing is limited. Raises UserError.

    Where the parameters ask for it, nothing of any file is in memory when the block begins.
    """
    bounds = declaration_of(parameters).bounds(parameters)
    with control_group(bounds.memory_bytes, bounds.cores) as group:
        if bounds.drops_page_cache:
            os.sync()
            DROP.write_text(EVERYTHING)
        yield group


def check_bounds(experiment: Experiment) -> None:
    """Raise UserError where this machine does not let a part's program be bounded as its parameters ask."""
    every = {declaration_of(part.parameters).bounds(part.parameters) for part in experiment.parts}
    if any(bounds.drops_page_cache for bounds in every) and not os.access(DROP, os.W_OK):
        raise UserError(
            'page_cache = "dropped" needs the right to empty the page cache, which root has: nothing else on this '
            'machine may write into /proc/sys/vm/drop_caches. Measure with page_cache = "warm", or as root.',
            ExitCode.ENVIRONMENT,
        )
    for bounds in every:
        with control_group(bounds.memory_bytes, bounds.cores):
            pass


def with_killed(record: TrialRecord, group: ControlGroup | None) -> TrialRecord:
    """A trial's record, failed where the kernel killed a process because the group's memory was spent."""
    if group is None or not group.killed:
        return record
    memory = declaration_of(record.parameters).bounds(record.parameters).memory_bytes
    text = f"{plural(group.killed, 'process', 'processes')} {was(group.killed)} killed by the kernel: the "
    text += f"{memory / 2**20:,.0f} MiB of memory that the program may have were spent"
    others = tuple(verdict for verdict in record.verdicts if verdict.severity != "error")
    why = tuple(verdict for verdict in record.verdicts if verdict.severity == "error")
    return replace(record, status="failed", verdicts=(Verdict("out-of-memory", "error", text), *why, *others))
