"""What a run says while it goes on."""

import pytest

from tests.results.trials import blocks, record
from tests.run.stand_ins import HEAP, agents, configuration, experiment
from tracetax.results.blocks import whole_blocks
from tracetax.results.records import Disturbance, TrialRecord
from tracetax.run.calm import Repeating, busy_words
from tracetax.run.plan import cells
from tracetax.run.so_far import SoFar, line_of, so_far

FLAT = configuration("flat")


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (1900.0, 600.0, "X 1.9 ± 0.6 µs"),
        (660.0, 100.0, "X 660 ± 100 ns"),
        (61.23, 0.56, "X 61.2 ± 0.6 ns"),
        (1900.0, None, "X 1.9 µs"),
        (-3.0, 12.0, "X −3.0 ± 12.0 ns"),
        (0.0, 0.0, "X 0.0 ± 0.0 ns"),
    ],
)
def test_an_overhead_in_two_digits(mean: float, half: float | None, shown: str) -> None:
    assert str(SoFar("X", mean, half)) == shown


def test_after_each_block_there_is_a_line_with_what_is_known() -> None:
    what = experiment(FLAT)
    every = cells(what, agents(FLAT))
    count, known = so_far(what.parts[0], every, whole_blocks(blocks(1)), agents(FLAT))
    assert line_of("", count, known) == "after 1 block, added per call: Fake 899 ns"
    count, known = so_far(what.parts[0], every, whole_blocks(blocks(4, spread=5)), agents(FLAT))
    assert line_of("Quick", count, known) == "Quick, after 4 blocks, added per call: Fake 899 ± 9 ns"
    assert every[-1].heap_bytes == HEAP


def seen(disturbed: bool) -> TrialRecord:
    return record(
        disturbance=Disturbance(
            steal=0.0, other_cpu=1.9, tool_cpu=0.0, sink_cpu_ns=0, pressure_cpu_avg10=0.0, disturbed=disturbed
        )
    )


def test_where_nearly_all_trials_are_disturbed_repeating_ends_and_begins_again_in_calm() -> None:
    repeating = Repeating()
    for _ in range(7):
        repeating.seen(seen(True))
    assert repeating.helps
    assert not repeating.news()
    repeating.seen(seen(True))
    assert not repeating.helps
    assert "8 of the last 8 trials were disturbed" in repeating.news()
    assert not repeating.news()
    repeating.seen(seen(False))
    assert "quieter" in repeating.news()
    assert repeating.helps


def test_how_busy_the_machine_is_in_words() -> None:
    assert busy_words(1.9) == "1.9 cores are busy with others; disturbed trials will be repeated."
    assert busy_words(1.04).startswith("1.0 core is busy")
