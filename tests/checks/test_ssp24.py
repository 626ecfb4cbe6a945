"""The paper's statements on Cloudprofiler's handlers are decided by rules, which can come out either way."""

import io
from collections.abc import Mapping

import pytest
from benchmarks.ssp24 import BUFFERED, KIEKERS, NULL, UNBUFFERED, Trials, decided, published, ratio, write

from tracetax.kinds.calltree import TreeParameters
from tracetax.ledger import Ledger
from tracetax.model import Use
from tracetax.results.records import Cell, Durations, HeapUse, Moments, TrialRecord

AS_PRINTED = {NULL: 461.0, UNBUFFERED: 14_022.0, "buffered": 2_294.0, "zstd": 2_280.0, "lzo1x": 2_280.0}
KIEKER = dict.fromkeys(KIEKERS, 5_485.0)


def trial(name: str, block: int, mean_ns: float, cv: float) -> TrialRecord:
    agent = "kieker" if name in KIEKERS else "cloudprofiler-handlers"
    return TrialRecord(
        number=block,
        block=block,
        block_size=9,
        cell=Cell("p", Use(agent, name), 1 << 30),
        parameters=TreeParameters(calls=10, depth=10),
        attempt=1,
        status="ok",
        verdicts=(),
        command=(),
        environment={},
        started_at="",
        moments=Moments(spawned=0),
        service=Durations(mean=mean_ns, median=0, p90=0, p99=0, p999=0, max=0, count=10),
        heap=HeapUse(mean_bytes=1, cv=cv, collections=3, pause_ns=0, longest_pause_ns=0),
        ledger=Ledger(expected=100, received=100, dropped_reported=0, expected_trees=10, bytes=3200),
    )


def measured(changes: Mapping[str, float] | None = None, spread: float = 0.01, ours: float = 0.1) -> Trials:
    """A run of four blocks in which all comes out as in the paper, but for these times."""
    times: dict[str, float] = {**AS_PRINTED, **KIEKER, **(changes or {})}
    off = (-1, 1, 0.5, -0.5)
    return {
        name: {
            block: trial(name, block, time * (1 + spread * off[block]), 0.5 if name in KIEKERS else ours)
            for block in range(4)
        }
        for name, time in times.items()
    }


def judged(trials: Trials) -> dict[str, str]:
    return {one.finding: one.decided for one in decided(trials)}


def test_what_comes_out_as_in_the_paper_confirms_it() -> None:
    assert judged(measured()) == dict.fromkeys(("CP1", "CP2", "CP3", "CP4", "CP5"), "confirmed")


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("CP1", {UNBUFFERED: 2_000.0}),
        ("CP1", {NULL: 2_500.0}),
        ("CP2", {"zstd": 2_700.0}),
        ("CP2", {"lzo1x": 2_000.0}),
        ("CP3", {UNBUFFERED: 20_000.0}),
        ("CP4", {"binary-tcp": 2_000.0}),
    ],
)
def test_another_order_or_size_refutes_it(statement: str, changes: dict[str, float]) -> None:
    assert judged(measured(changes))[statement] == "refuted"


def test_what_no_interval_tells_apart_is_undecided() -> None:
    trials = dict(measured())
    lzo = trials["lzo1x"]
    trials["lzo1x"] = {
        block: trial("lzo1x", block, 2_280.0 * (1 + (0.2, -0.2, 0.1, -0.1)[block]), 0.1) for block in lzo
    }
    trials["binary-file"] = trials["lzo1x"]
    assert judged(trials)["CP2"] == judged(trials)["CP4"] == "undecided"


def test_the_heap_is_compared_start_by_start() -> None:
    assert judged(measured(ours=0.6))["CP5"] == "refuted"
    trials = dict(measured())
    trials["zstd"] = {0: trial("zstd", 0, 2_280.0, 0.7)}
    assert judged(trials)["CP5"] == "undecided"


def test_without_two_blocks_nothing_is_compared() -> None:
    trials = {name: {0: blocks[0]} for name, blocks in measured().items()}
    assert ratio(trials, UNBUFFERED, "zstd") is None
    found = judged(trials)
    assert [found[name] for name in ("CP1", "CP2", "CP3", "CP4")] == ["not comparable"] * 4
    assert judged({})["CP5"] == "not comparable"


def test_the_table_has_the_papers_numbers_beside_ours() -> None:
    text = io.StringIO()
    write(measured(), text)
    lines = text.getvalue().splitlines()
    (zstd,) = [line for line in lines if line.startswith("| zstd |")]
    assert zstd.startswith("| zstd | 2.280 ± 0.0") and "| 2.28 | – | 400 of 400 |" in zstd
    assert next(line for line in lines if line.startswith("| unbuffered |")).split("|")[3].strip() == "–"
    assert sum(line.startswith("| CP") for line in lines) == len(BUFFERED) + 2
    assert published()["(2) null handler"] == 0.461
