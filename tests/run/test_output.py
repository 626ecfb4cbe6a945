"""What a workload prints is bounded, and what matters of it is shown."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import HEAP, agents, configuration, experiment
from tests.run.test_trial import codes, trial
from tracetax.errors import UserError
from tracetax.run import output
from tracetax.run.drops import DropLog
from tracetax.run.plan import cells, check_samples
from tracetax.workloads.driver import WorkloadFailed


def test_a_workload_that_prints_without_an_end_is_ended_with_its_verdict_and_its_log_is_cut(
    tmp_path: Path, sink_binary: Path
) -> None:
    record = trial(tmp_path, sink_binary, replace(configuration("floods"), most_output_bytes=8 << 20))
    assert (record.status, codes(record)) == ("failed", {"output-flood"})
    log = tmp_path / "run" / "logs" / "0001" / "stdout.txt"
    assert log.stat().st_size < 2 * output.KEPT_BYTES + 100
    text = log.read_text()
    assert text.startswith("DEBUG of an agent\n")
    assert "DEBUG of an agent" in text[-100:]
    assert re.search(r"\n… [\d,]+ bytes are left out here …\n", text)


def test_a_short_log_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "stdout.txt").write_bytes(b"x" * 2 * output.KEPT_BYTES)
    output.cut(tmp_path)
    assert (tmp_path / "stdout.txt").read_bytes() == b"x" * 2 * output.KEPT_BYTES


def test_a_failure_shows_the_end_of_both_streams(tmp_path: Path, sink_binary: Path) -> None:
    text = trial(tmp_path, sink_binary, configuration("two-streams")).verdicts[0].text
    assert "Caused by: the port is taken" in text
    assert "WARNING: something else" in text


def test_a_long_stream_gets_the_lines_that_the_other_leaves(tmp_path: Path) -> None:
    (tmp_path / "stderr.txt").write_text("one line\n")
    (tmp_path / "stdout.txt").write_text("".join(f"line {number}\n" for number in range(100)))
    shown = output.last_lines(tmp_path, output.STREAMS)
    assert "one line" in shown
    assert "line 89\n" in shown
    assert "line 88\n" not in shown


def test_a_pattern_that_would_match_for_ever_is_given_up_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.run.drops.MATCH_SECONDS", 0.2)
    log = tmp_path / "log"
    log.write_text("a" * 5000 + "\n")
    with pytest.raises(WorkloadFailed, match=r"more than 0\.2 s of CPU(?s:.*)\(a\+\)\+x \(") as caught:
        DropLog(r"(a+)+x (\d+)", (log,)).total()
    assert caught.value.code == "drop-log-unreadable"


@pytest.mark.parametrize("said", ["²", "9" * 5000, ""])
def test_what_is_no_number_in_a_drop_log_fails_with_its_verdict(tmp_path: Path, said: str) -> None:
    (tmp_path / "log").write_text(f"dropped {said} spans\n")
    with pytest.raises(WorkloadFailed, match="no number"):
        DropLog(r"dropped (\S+)? spans", (tmp_path / "log",)).total()


def test_drops_in_a_large_log_are_all_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.run.drops.CHUNK_BYTES", 1000)
    log = tmp_path / "log"
    log.write_text("x" * 2500 + "\n" + "some line\ndropped 7 spans\n" * 500 + "dropped 5 spans")
    drops = DropLog(r"dropped (\d+) spans", (log,))
    assert drops.total() == 3500
    assert drops.total(ended=True) == 3505


def test_samples_that_do_not_fit_into_the_heap_are_refused_with_how_much_they_take() -> None:
    flat = configuration("flat")
    what = experiment(flat)
    check_samples(what, cells(what, agents(flat)))
    (part,) = what.parts
    big = replace(what, parts=(replace(part, parameters=replace(part.parameters, calls=10**9, rate="full")),))
    with pytest.raises(UserError, match=r"1,000,000,000 calls in part p take 7,645 MiB of the heap, and it has 64 MiB"):
        check_samples(big, cells(big, agents(flat)))
    paced = replace(what, parts=(replace(part, parameters=replace(part.parameters, calls=HEAP // 16, rate=1e3)),))
    with pytest.raises(UserError, match="take 112 MiB"):
        check_samples(paced, cells(paced, agents(flat)))
