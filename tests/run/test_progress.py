"""What a run says while it goes on."""

import pytest

from tests.results.trials import blocks
from tests.run.stand_ins import HEAP, agents, configuration, experiment
from tracetax.results.blocks import whole_blocks
from tracetax.run.plan import cells
from tracetax.run.progress import SoFar, line_of, so_far

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
