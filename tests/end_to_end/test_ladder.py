"""One tracer in all its forms: every record at full speed, in whole trees, by one caller and by three."""

from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent

pytestmark = pytest.mark.real
CALLS, DEPTH = 20_000, 10
FASTEST = "executions"  # which its file takes where none is named
FORMS = (
    "base",
    "pt1",
    "pt2",
    "pt3",
    "pt4",
    FASTEST,
    "less-pt1",
    "less-pt2",
    "less-pt3",
    "linked",
    "mpsc",
    "threads",
)


@pytest.mark.parametrize(
    ("threads", "forms"),
    [(1, FORMS), (3, ("pt1", "pt2", "mpsc", "threads"))],  # flat ones hold some back for each thread: see its README
    ids=["one caller, every form", "three callers, objects"],
)
def test_every_form_delivers_every_record_in_whole_trees(tmp_path: Path, threads: int, forms: tuple[str, ...]) -> None:
    trials = measure_agent(tmp_path, "ladder", ["written"], calls=CALLS, threads=threads, technologies=forms)
    assert trials.keys() == {"written" if form == FASTEST else f"written:{form}" for form in forms}
    for name, trial in trials.items():
        ledger = trial.ledger
        assert ledger, trial.verdicts
        assert (ledger.received, ledger.complete_trees, ledger.unexpected) == (CALLS * DEPTH, CALLS, {}), name


def test_what_ends_before_the_writer_sends_nothing(tmp_path: Path) -> None:
    layers = ["deactivated", "collected", "queued"]
    for name, trial in measure_agent(tmp_path, "ladder", layers, calls=CALLS, technologies=["pt1"]).items():
        assert trial.ledger, trial.verdicts
        assert trial.ledger.received == 0, name
