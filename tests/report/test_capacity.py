"""What a search has found stands in a table and in sentences, and fits 80 columns."""

import io

import pytest
from rich.console import Console

from tests.settings import java_settings
from tracetax.model import FULL, Search
from tracetax.report.capacity import render_capacity
from tracetax.results.capacity import SCHEMA_VERSION, Capacity, CapacityEnd, CapacityFinding, CapacityOutcome


def finding(
    outcome: CapacityOutcome, low: CapacityEnd | None, high: CapacityEnd | None, hidden: float | None = None
) -> CapacityFinding:
    return CapacityFinding(
        part="tracer-stock",
        agent="tracer",
        agent_name="Tracer",
        version="1.2.3",
        artifact_sha256="",
        configuration="stock",
        title="Tracer (as shipped, over a protocol with a long name)",
        delivery="lossy",
        depth=10,
        threads=1,
        jvm=None,
        settings=java_settings(1 << 30),
        java=None,
        outcome=outcome,
        complete_at=low,
        incomplete_at=high,
        confirmed=outcome == "bracket",
        loss_at_most=None,
        hidden_per_second=hidden,
        text="Tracer says it in words.",
        trials=(),
    )


LOW, HIGH = CapacityEnd(3_110.0, 31_100.0, 6, 6), CapacityEnd(3_380.0, 33_800.0, 6, 2)


def rendered(*found: CapacityFinding) -> str:
    console = Console(file=io.StringIO(), width=80)
    search = Search()
    render_capacity(Capacity(SCHEMA_VERSION, "0", (), "", {}, search, tuple(found)), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_both_ends_stand_in_the_table_with_how_many_trials_showed_it() -> None:
    text = rendered(finding("bracket", LOW, HIGH, hidden=41.0))
    assert all(word in text for word in ("3,110", "6 of 6", "3,380", "4 of 6"))
    assert "Tracer says it in words." in text
    assert "41 calls/s" in text


def test_a_rate_that_the_caller_does_not_make_is_not_told_as_a_loss() -> None:
    unmade = CapacityEnd(3_380.0, 33_800.0, 6, complete=1, not_made=5)
    assert "not made" in rendered(finding("bracket", LOW, unmade))
    some_lost = CapacityEnd(3_380.0, 33_800.0, 6, complete=1, not_made=2)
    text = rendered(finding("bracket", LOW, some_lost))
    assert "3 of 6" in text
    assert "not made" not in text


def test_no_line_is_longer_than_80_columns() -> None:
    ends = ((LOW, HIGH), (None, HIGH), (None, None))
    text = rendered(*(finding("unfinished", low, high, hidden=20_000.0) for low, high in ends))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("outcome", "low", "words"),
    [
        ("full-speed", CapacityEnd(FULL, 900_000.0, 6, 6), ("full speed", "nothing lost")),
        ("none-complete", None, ("–", "loses at")),
        ("none-made", None, ("–", "not", "made")),
        ("unfinished", LOW, ("3,110", "not ended")),
        ("failed", None, ("failed",)),
    ],
)
def test_an_answer_that_is_no_bracket_says_why(
    outcome: CapacityOutcome, low: CapacityEnd | None, words: tuple[str, ...]
) -> None:
    text = " ".join(rendered(finding(outcome, low, None)).split())
    assert all(word in text for word in words)
