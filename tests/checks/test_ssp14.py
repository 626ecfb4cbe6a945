"""What the paper says of its tuning steps is decided by rules, which can come out every way."""

import io

import pytest
from benchmarks.ssp14 import LAYERS, STEPS, decided, faster, inexact, published, write
from msgspec.structs import replace

from tests.report.sample_findings import sample_findings

NOISE = (0.98, 1.0, 1.01, 1.01)
"""Of each block."""
Found = dict[str, dict[int, float]]
EXACT: frozenset[str] = frozenset()


def measured() -> Found:
    """A run in which each call takes as long as the paper's throughputs say."""
    rates = published()
    found: Found = {}
    for step in STEPS:
        for layer in LAYERS:
            name = layer if layer == "baseline" else f"{layer}:{step}"
            found[name] = blocks(1e9 / rates[step, layer, "mean"])
    return found


def blocks(mean: float) -> dict[int, float]:
    return {number: mean * factor for number, factor in enumerate(NOISE)}


def judged(found: Found, missing: frozenset[str] = EXACT) -> list[str]:
    return [one.decided for one in decided(found, missing)]


def test_what_comes_out_as_in_the_paper_confirms_it() -> None:
    assert judged(measured()) == ["confirmed"] * 4
    assert decided(measured(), EXACT)[1].because.startswith("written 1.77 (1.77 to 1.77) times as fast, ")


def test_how_large_a_step_is_beside_the_paper_is_told_and_decides_nothing() -> None:
    found = measured()
    found["written:pt2"] = blocks(found["written:pt1"][1] / 1.2)
    assert decided(found, EXACT)[1].because.endswith("less than printed (1.77)")
    found["written:pt2"] = blocks(found["written:pt1"][1] / 3)
    assert decided(found, EXACT)[1].because.endswith("more than printed (1.77)")
    assert judged(found)[1] == "confirmed"


def test_a_step_that_slows_calls_refutes_its_statement_and_no_other() -> None:
    found = measured()
    found["written:pt2"] = blocks(found["written:pt1"][1] * 1.5)
    assert judged(found) == ["confirmed", "refuted", "confirmed", "confirmed"]


def test_of_two_layers_that_a_statement_needs_one_that_gets_slower_refutes_it() -> None:
    found = measured()
    found["written:pt3"] = blocks(found["written:pt2"][1] * 1.5)
    assert judged(found)[2] == "refuted"


def test_where_chance_is_not_excluded_nothing_is_decided() -> None:
    found = measured()
    same = found["collected:base"]
    found["collected:pt1"] = {0: same[0] * 1.2, 1: same[1] * 0.8, 2: same[2] * 1.1, 3: same[3] * 0.9}
    assert judged(found)[0] == "undecided"


def test_forms_of_which_records_are_missing_are_not_compared() -> None:
    outcomes = judged(measured(), frozenset({"written:pt2"}))
    assert outcomes == ["confirmed", "not comparable", "not comparable", "confirmed"]


def test_one_block_is_too_few() -> None:
    found = {key: {0: of[0]} for key, of in measured().items()}
    assert judged(found) == ["not comparable"] * 4


def test_only_blocks_that_both_have_are_compared() -> None:
    found: Found = {
        "a": {1: 2.0, 2: 4.0, 3: 6.0, 9: 100.0},
        "b": {1: 1.0, 2: 2.0, 3: 3.0, 8: 1.0},
    }
    of = faster(found, "a", "b")
    assert of
    assert (of.n, of.sd) == (3, pytest.approx(0))
    assert of.mean == pytest.approx(0.6931, abs=1e-4)


def test_a_row_that_promises_all_records_and_lacks_one_is_told() -> None:
    rows = sample_findings().configurations
    assert inexact(rows) == EXACT
    row = next(row for row in rows if row.delivery == "complete")
    lacking = replace(row, records=replace(row.records, received=row.records.expected - 1))
    assert inexact([lacking]) == {row.configuration}


def test_the_papers_tables_stand_beside() -> None:
    rates = published()
    assert len(rates) == len(STEPS) * len(LAYERS) * 5
    assert (rates["pt4", "written", "mean"], rates["pt4", "written", "half"]) == (141_200, 300)
    told = io.StringIO()
    write([], measured(), told)
    assert "| PT3 | Writing (T+I+C+W) | – | – | – | – | 113.2 ± 0.5 | 113.1 | 114.3 | 115.0 |" in told.getvalue()
    assert "| PT2 | the Disruptor makes writing faster | *confirmed* |" in told.getvalue()
    added = next(line for line in told.getvalue().splitlines() if line.startswith("| before | 0."))
    assert [cell.partition(" ±")[0] for cell in added.strip("| ").split(" | ")] == [
        *("before", "0.48", "14.50", "44.42", "0.47", "14.50", "44.42")
    ]
