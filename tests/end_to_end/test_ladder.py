"""One tracer in all its forms: every record at full speed, in whole trees, by one caller and by three."""

from pathlib import Path

import pytest

from tests.end_to_end.command import tracetax
from tracetax.results.folder import RunFolder

pytestmark = pytest.mark.real
CALLS, DEPTH = 20_000, 10
FORMS = (
    "base",
    "pt1",
    "pt2",
    "pt3",
    "pt4",
    "executions",
    "less-pt1",
    "less-pt2",
    "less-pt3",
    "linked",
    "mpsc",
    "threads",
)
ENDS_EARLY = ("deactivated", "collected", "queued")


@pytest.mark.parametrize(
    ("threads", "forms"),
    [(1, FORMS), (3, ("pt1", "pt2", "mpsc", "threads"))],  # flat ones hold some back for each thread: see its README
    ids=["one caller, every form", "three callers, objects"],
)
def test_every_form_delivers_every_record_in_whole_trees(tmp_path: Path, threads: int, forms: tuple[str, ...]) -> None:
    wanted = [f"written:{form}" for form in forms] + [f"{name}:pt1" for name in ENDS_EARLY]
    status, printed = tracetax(
        *("run", "--agent", "ladder", "--configuration", ",".join(wanted), "--rate", "full"),
        *("--calls", str(CALLS), "--depth", str(DEPTH), "--blocks", "1", "--threads", str(threads)),
        *("--out", str(tmp_path / "run")),
    )
    assert status == 0, printed
    trials = [trial for trial in RunFolder(tmp_path / "run").records() if trial.cell.role == "configuration"]
    assert len(trials) == len(wanted)
    for trial in trials:
        name, ledger = trial.cell.use.configuration, trial.ledger
        assert ledger
        sent = CALLS if name.startswith("written") else 0
        assert (ledger.received, ledger.complete_trees, ledger.unexpected) == (sent * DEPTH, sent, {}), name
