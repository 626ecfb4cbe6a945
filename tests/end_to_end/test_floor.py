"""The tracer at the limit: every record at full speed, and an exact account where it drops."""

from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS, DEPTH = 100_000, 10


def measured(folder: Path, *said: str) -> dict[str, TrialRecord]:
    """The trials of both configurations in one block at full speed."""
    status, printed = tracetax(
        *("run", "--agent", "floor", "--configuration", "kieker-tcp,kieker-tcp-drops", "--rate", "full"),
        *("--calls", str(CALLS), "--depth", str(DEPTH), "--blocks", "1", "--out", str(folder / "run"), *said),
    )
    assert status == 0, printed
    records = RunFolder(folder / "run").records()
    return {record.cell.use.configuration: record for record in records if record.cell.role == "configuration"}


@pytest.mark.parametrize("threads", [1, 3])
def test_every_record_arrives_in_whole_trees_or_is_told_as_dropped(tmp_path: Path, threads: int) -> None:
    trials = measured(tmp_path, "--threads", str(threads))
    whole, drops = (trials[name].ledger for name in ("kieker-tcp", "kieker-tcp-drops"))
    assert whole
    assert (whole.received, whole.complete_trees, whole.unexpected) == (CALLS * DEPTH, CALLS, {})
    assert drops
    assert drops.received + drops.dropped_reported == CALLS * DEPTH
