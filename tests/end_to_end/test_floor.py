"""The tracer at the limit: every record at full speed, and an exact account where it drops."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent

pytestmark = pytest.mark.real
CALLS, DEPTH = 100_000, 10
WAITS = ("compact", "compact-counter", "kieker-tcp", "kieker-tcp-counter")
DROPS = ("compact-drops", "kieker-tcp-drops")


@pytest.mark.parametrize("threads", [1, 3])
def test_every_record_arrives_in_whole_trees_or_is_told_as_dropped(tmp_path: Path, threads: int) -> None:
    trials = measure_agent(tmp_path, "floor", [*WAITS, *DROPS], calls=CALLS, threads=threads)
    for name in WAITS:
        ledger = trials[name].ledger
        assert ledger
        assert (ledger.received, ledger.complete_trees, ledger.unexpected) == (CALLS * DEPTH, CALLS, {}), name
    for name in DROPS:
        ledger = trials[name].ledger
        assert ledger
        assert ledger.received + ledger.dropped_reported == CALLS * DEPTH, name
