"""Whatever becomes of JVM or sink: that trial fails and is repeated, the run has its result, and nothing lives on."""

import signal
from pathlib import Path

import pytest

from tests.faults.scene import Harm, children, codes, is_complete, measured, row, signal_to
from tests.run.stand_ins import configuration

STAGES = ("warming up", "calling", "ending")


@pytest.mark.parametrize(
    ("stage", "number"),
    [(stage, signal.SIGABRT) for stage in STAGES] + [("calling", signal.SIGKILL)],  # as the kernel does for memory
)
def test_a_jvm_that_ends_in_mid_trial_costs_that_trial_alone(
    tmp_path: Path, sink_binary: Path, stage: str, number: signal.Signals
) -> None:
    harm = Harm(stage, signal_to("--status", number))
    ended, folder = measured(tmp_path / "run", sink_binary, harm)
    assert codes(harm.ended) == ["jvm-ended"]
    assert number.name in harm.ended[ended.failed_trials[0] - 1].verdicts[0].text
    assert is_complete(folder)
    assert [verdict.severity for verdict in row(folder).verdicts if verdict.code == "jvm-ended"] == ["warning"]
    assert children() == {}


@pytest.mark.parametrize("stage", ["starting", *STAGES])
def test_a_sink_that_is_killed_costs_that_trial_alone(tmp_path: Path, sink_binary: Path, stage: str) -> None:
    harm = Harm(stage, signal_to("--record-name", signal.SIGKILL))
    ended, folder = measured(tmp_path / "run", sink_binary, harm)
    assert len(ended.failed_trials) == 1
    assert codes(harm.ended)[0] in ("sink-lost", "jvm-ended")  # the stand-in may fail first, for want of the sink
    assert is_complete(folder)
    assert "warning" in {verdict.severity for verdict in row(folder).verdicts}
    assert children() == {}


def test_a_sink_that_stops_answering_is_given_up(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.companions.sink.ANSWER_SECONDS", 5.0)
    harm = Harm("ending", signal_to("--record-name", signal.SIGSTOP))
    _, folder = measured(tmp_path / "run", sink_binary, harm)
    assert codes(harm.ended) == ["sink-lost"]
    failed = next(record for record in harm.ended if record.status == "failed")
    assert "gave no answer" in failed.verdicts[0].text
    assert is_complete(folder)
    assert children() == {}


def test_an_agent_that_hangs_before_main_and_ignores_term_is_killed(tmp_path: Path, sink_binary: Path) -> None:
    harm = Harm()
    ended, _ = measured(tmp_path / "run", sink_binary, harm, configuration("hang-before-main"), blocks=1)
    assert codes(harm.ended) == ["jvm-hangs", "jvm-hangs"]
    assert {record.exit_status for record in harm.ended if record.cell.use.agent == "fake"} == {-signal.SIGKILL}
    assert ended.parts == {"p": "failed"}
    assert children() == {}


def test_a_jvm_that_does_not_end_is_killed_and_its_numbers_do_not_count(tmp_path: Path, sink_binary: Path) -> None:
    harm = Harm()
    _, folder = measured(tmp_path / "run", sink_binary, harm, configuration("does-not-end"), blocks=1)
    assert codes(harm.ended) == ["does-not-end", "does-not-end"]
    assert "error" in {verdict.severity for verdict in row(folder).verdicts}
    assert row(folder).measures == ()
    assert children() == {}


def test_a_sink_that_gets_no_port_is_told_with_its_own_words(tmp_path: Path) -> None:
    sink = tmp_path / "sink"
    sink.write_text("#!/bin/sh\necho 'listen tcp 127.0.0.1:0: bind: address already in use' >&2\nexit 1\n")
    sink.chmod(0o755)
    harm = Harm()
    ended, folder = measured(tmp_path / "run", sink, harm, blocks=1)
    assert set(codes(harm.ended)) == {"sink-lost"}
    assert ended.parts == {"p": "failed"}
    assert "ended with status 1" in harm.ended[0].verdicts[0].text
    assert "address already in use" in (folder.path / "logs" / "0001" / "sink.txt").read_text()
    assert children() == {}
