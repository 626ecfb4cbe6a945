"""The tracer at the limit: every record at full speed, and an exact account where it drops."""

from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS, DEPTH = 100_000, 10
WAITS = ("compact", "compact-counter", "kieker-tcp", "kieker-tcp-counter")
DROPS = ("compact-drops", "kieker-tcp-drops")


def measured(folder: Path, *said: str) -> dict[str, TrialRecord]:
    """The trials of all configurations in one block at full speed."""
    status, printed = tracetax(
        *("run", "--agent", "floor", "--configuration", ",".join((*WAITS, *DROPS)), "--rate", "full"),
        *("--calls", str(CALLS), "--depth", str(DEPTH), "--blocks", "1", "--out", str(folder / "run"), *said),
    )
    assert status == 0, printed
    records = RunFolder(folder / "run").records()
    return {record.cell.use.configuration: record for record in records if record.cell.role == "configuration"}


@pytest.mark.parametrize("threads", [1, 3])
def test_every_record_arrives_in_whole_trees_or_is_told_as_dropped(tmp_path: Path, threads: int) -> None:
    trials = measured(tmp_path, "--threads", str(threads))
    for name in WAITS:
        ledger = trials[name].ledger
        assert ledger
        assert (ledger.received, ledger.complete_trees, ledger.unexpected) == (CALLS * DEPTH, CALLS, {}), name
    for name in DROPS:
        ledger = trials[name].ledger
        assert ledger
        assert ledger.received + ledger.dropped_reported == CALLS * DEPTH, name
