"""What is left of an agent where one of its instrumentations is off: of its records, and of its CPU."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.test_findings import findings
from tests.results.trials import ledger, record
from tests.run.stand_ins import configuration
from tracetax.agent import without_name
from tracetax.results.findings import Findings
from tracetax.results.records import CpuAccount, CpuTimes, Role, TrialRecord

WHOLE = configuration("whole")
OFF = [
    replace(configuration(without_name("whole", name)), title=f"whole, without {name}", without=name)
    for name in ("http", "fs")
]
PLACES = ("baseline-1", "baseline-2", WHOLE.name, *(config.name for config in OFF))
CALLS = 1_000
"""Of each trial."""


def trial(block: int, role: Role, us: float, name: str = "whole", records: int = 0) -> TrialRecord:
    """A trial whose calls took so many µs of CPU, and of which so many records came."""
    number = 10 * block + PLACES.index(name if role == "configuration" else role)
    times = CpuTimes(caller=0, agent=round(us * 1_000 * CALLS), jit=0, gc=0, jvm=0, ended=0)
    cpu = CpuAccount(to_last_call=times, to_drained=times, waiting_cores=None, threads={})
    account = ledger(records * CALLS)
    return record(number, block, role, block_size=5, configuration=name, cpu=cpu, in_calls_ns=0, ledger=account)


def measured(folder: Path, blocks: int = 6, spread: float = 1.0) -> Findings:
    """An agent adds 100 µs to a request of 50; without http 40 of them are left, without fs 90."""
    trials: list[TrialRecord] = []
    for block in range(1, blocks + 1):
        shift = 5.0 * block  # what a block's trials share
        own = spread if block % 2 else -spread
        trials += [
            trial(block, "baseline-1", 50 + shift - own),
            trial(block, "baseline-2", 50 + shift + own),
            trial(block, "configuration", 150 + shift + own, records=11),
            trial(block, "configuration", 90 + shift - own, OFF[0].name, records=2),
            trial(block, "configuration", 140 + shift, OFF[1].name, records=0),
        ]
    return findings(folder, trials, WHOLE, *OFF)


def test_what_is_left_is_a_share_of_what_the_agent_adds_in_the_same_blocks(tmp_path: Path) -> None:
    http, fs = measured(tmp_path).switches
    assert (http.whole, http.configuration, http.without) == ("whole", "whole-without-http", "http")
    assert (http.records_whole, http.records, fs.records) == (11.0, 2.0, 0.0)
    assert http.cpu_saved_ns.mean == pytest.approx(60_000)
    assert http.cpu_left and http.cpu_left.ci95
    assert http.cpu_left.mean == pytest.approx(0.4)
    assert http.cpu_left.ci95[0] < 0.4 < http.cpu_left.ci95[1]
    assert http.cpu_left.n == 6


def test_a_sentence_tells_each_and_that_they_do_not_add_up(tmp_path: Path) -> None:
    told = {one.id: one.text for one in measured(tmp_path).statements}
    text = told["p-fake-whole-without-http-leaves"]
    assert text.startswith("Fake (whole, without http): 2 of 11 records of a request are left, and 40 % of the CPU")
    assert "60.0 ± 2.3 µs less per request" in text  # differences of ± 2 µs in six blocks: 2.57 · 2.19 / √6
    assert "none of 11 records of a request is left" in told["p-fake-whole-without-fs-leaves"]
    assert "does not add up" in told["switches-do-not-add-up"]


def test_of_one_block_nothing_is_claimed(tmp_path: Path) -> None:
    found = measured(tmp_path, blocks=1)
    assert found.switches[0].cpu_left is None
    text = next(one.text for one in found.statements if one.id == "p-fake-whole-without-http-leaves")
    assert "cannot be told" in text


def test_an_agent_that_adds_nothing_has_no_share(tmp_path: Path) -> None:
    assert measured(tmp_path, spread=200.0).switches[0].cpu_left is None
