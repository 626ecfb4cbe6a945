"""What one trial concludes from every way in which a JVM with an agent can behave."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.faults.scene import children
from tests.run.stand_ins import HEAP, OF_THE_MACHINE, configuration, experiment, fake_equipment, new_run
from tracetax.model import BASELINE, Configuration, Delivery, Use
from tracetax.results.records import Cell, TrialRecord
from tracetax.run.plan import TrialPlan, Turn
from tracetax.run.trial import run_trial


def trial(
    tmp_path: Path,
    sink: Path,
    config: Configuration,
    use: Use | None = None,
    watch: Callable[[str], None] = lambda _: None,
) -> TrialRecord:
    what = experiment(config)
    use = use or Use(agent="fake", configuration=config.name)
    equipment = fake_equipment(sink, config)
    cell = Cell(part="p", use=use, heap_bytes=HEAP)
    plan = TrialPlan(
        number=1,
        turn=Turn(block=1, block_size=1, cell=cell),
        part=what.parts[0],
        config=equipment.configuration(use.agent, use.configuration),
    )
    return run_trial(plan, equipment, new_run(tmp_path / "run", what, config), watch)


def codes(record: TrialRecord) -> set[str]:
    return {verdict.code for verdict in record.verdicts} - OF_THE_MACHINE


def test_a_flat_workload_that_delivers_everything_gets_no_verdict(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("flat"))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger and (record.ledger.received, record.ledger.complete_trees) == (600, 200)
    assert record.steady and record.steady.kind == "flat"
    assert record.service and record.service.mean == pytest.approx(102.97)


def test_bytes_that_are_no_text_in_status_file_and_logs_harm_nothing(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("no-utf8"))
    assert (record.status, codes(record)) == ("ok", set())


def test_warm_up_records_are_accounted_apart(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("flat"))
    assert record.warm_up and record.warm_up.ledger.received == record.warm_up.calls * 3 > 0


def test_the_baseline_expects_nothing(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("flat"), BASELINE)
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger and record.ledger.completeness is None


@pytest.mark.parametrize(
    ("behaviour", "verdict"),
    [
        ("crash-before-main", "jvm-ended"),
        ("aborts-in-calls", "jvm-ended"),
        ("reports-error", "workload-error"),
        ("hangs-in-calls", "jvm-hangs"),
        ("records-nothing", "nothing-recorded"),
        ("wrong-name", "nothing-recorded"),
        ("garbled", "malformed-input"),
        ("lying", "output-broken"),
        ("half-written", "output-broken"),
        ("garbled-status", "output-broken"),
        ("garbled-output", "output-broken"),
        ("does-not-end", "does-not-end"),
        ("exit-status", "exit-status"),
        ("backwards", "broken-trees"),
    ],
)
def test_what_goes_wrong_fails_the_trial_with_its_verdict(
    tmp_path: Path, sink_binary: Path, behaviour: str, verdict: str
) -> None:
    record = trial(tmp_path, sink_binary, configuration(behaviour))
    assert record.status == "failed"
    assert verdict in codes(record)
    assert (tmp_path / "run" / "trials" / "0001" / "record.json").is_file()


@pytest.mark.parametrize(
    ("behaviour", "delivery", "verdict"),
    [
        ("loses", Delivery.COMPLETE, "records-lost"),
        ("loses", Delivery.LOSSY, "silent-loss"),
        ("admits-drops", Delivery.LOSSY, "drops"),
        ("repeats", Delivery.COMPLETE, "duplicates"),
        ("sends-at-exit", Delivery.COMPLETE, "after-drain"),
        ("cold", Delivery.COMPLETE, "not-warm"),
    ],
)
def test_what_the_reader_must_know_is_said_and_the_trial_counts(
    tmp_path: Path, sink_binary: Path, behaviour: str, delivery: Delivery, verdict: str
) -> None:
    record = trial(tmp_path, sink_binary, configuration(behaviour, delivery))
    assert record.status == "ok"
    assert verdict in codes(record)


def test_records_of_a_configuration_that_promises_none_are_told(tmp_path: Path, sink_binary: Path) -> None:
    promises_none = replace(configuration("flat", Delivery.NONE), protocol=None)
    record = trial(tmp_path, sink_binary, promises_none)
    assert (record.status, codes(record)) == ("ok", {"unpromised-records"})


def test_records_that_a_search_for_an_objective_does_not_wait_for_are_not_told(
    tmp_path: Path, sink_binary: Path
) -> None:
    record = trial(tmp_path, sink_binary, configuration("flat", Delivery.NONE))
    assert (record.status, codes(record)) == ("ok", set())


def test_what_an_agent_may_hold_back_until_its_end_is_not_late(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, replace(configuration("sends-at-exit"), held_back=300))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger and record.ledger.received == 600


def test_silence_does_not_end_the_drain_while_an_agent_that_promises_all_is_connected(
    tmp_path: Path, sink_binary: Path
) -> None:
    record = trial(tmp_path, sink_binary, configuration("pauses"))
    assert (record.status, codes(record)) == ("ok", set())
    assert record.ledger and record.ledger.received == 600
    assert (record.moments.drained - record.moments.last_call) / 1e9 > 1.0


def test_received_and_admitted_drops_add_up_to_what_was_generated(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("admits-drops", Delivery.LOSSY))
    assert record.ledger
    assert (record.ledger.received, record.ledger.dropped_reported, record.ledger.missing) == (300, 300, 0)


@pytest.mark.parametrize("behaviour", ["hang-before-main", "does-not-end", "hangs-in-calls", "flat"])
def test_no_process_is_left_behind(tmp_path: Path, sink_binary: Path, behaviour: str) -> None:
    trial(tmp_path, sink_binary, configuration(behaviour))
    mine = str(tmp_path)
    left = [
        process.name for process in Path("/proc").glob("[0-9]*") if mine.encode() in _command_line(process / "cmdline")
    ]
    assert left == []
    assert children() == {}  # the sink's command names no run


def test_a_failure_names_the_log_and_shows_its_end(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("crash-before-main"))
    text = record.verdicts[0].text
    assert "ended with status 1" in text
    assert "Error occurred during initialization of VM" in text
    assert str(tmp_path / "run" / "logs" / "0001") in text


def test_inherited_settings_of_jvm_and_agents_are_not_passed_on(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JAVA_TOOL_OPTIONS", "OTEL_SERVICE_NAME", "KIEKER_SIGNATURES_INCLUDE"):
        monkeypatch.setenv(name, "would change the result")
    passed_on: list[bytes] = []

    def look(state: str) -> None:
        if state == "calling":
            passed_on.extend(Path(f"/proc/{pid}/environ").read_bytes() for pid in children())

    trial(tmp_path, sink_binary, configuration("flat"), watch=look)
    assert [b"LC_ALL=C.UTF-8" in environment for environment in passed_on] == [True, True]  # JVM and sink
    assert not any(b"would change the result" in environment for environment in passed_on)


def test_a_steady_part_after_a_warm_up_is_found(tmp_path: Path, sink_binary: Path) -> None:
    record = trial(tmp_path, sink_binary, configuration("warming-up"))
    assert record.steady and record.steady.kind == "warm-up"
    assert record.service and record.service.mean == pytest.approx(103, abs=0.5)


def test_a_sink_that_is_killed_during_the_calls_is_named_at_once(tmp_path: Path, sink_binary: Path) -> None:
    def kill(state: str) -> None:
        if state == "calling":
            for process in Path("/proc").glob("[0-9]*"):
                if str(sink_binary).encode() in _command_line(process / "cmdline") and mine(process):
                    os.kill(int(process.name), signal.SIGKILL)

    def mine(process: Path) -> bool:
        return (process / "stat").read_text().rsplit(") ", 1)[1].split()[1] == str(os.getpid())

    record = trial(tmp_path, sink_binary, configuration("hangs-in-calls"), watch=kill)
    assert codes(record) == {"sink-lost"}
    assert "was ended by signal SIGKILL" in record.verdicts[0].text


def test_records_where_none_are_promised_are_seen_on_any_protocol(tmp_path: Path, sink_binary: Path) -> None:
    silent = replace(configuration("flat", Delivery.NONE), protocol=None)
    record = trial(tmp_path, sink_binary, silent)
    assert "unpromised-records" in codes(record)


def _command_line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_script_beside_the_record_starts_the_jvm_by_hand(tmp_path: Path, sink_binary: Path) -> None:
    odd = "-Dodd=a b'c\"d$(e)`f`\\g"
    kept = tmp_path / "run" / "trials" / "0001"
    record = trial(tmp_path, sink_binary, configuration("flat", flags=(odd,)))
    script = kept / "command.sh"
    port = next(word.removeprefix("-Dport=") for word in record.command if word.startswith("-Dport="))
    assert f"Its records go to port {port}" in script.read_text()
    began = (tmp_path / "run" / "logs" / "0001" / "status.txt").read_bytes()
    done = subprocess.run(
        (script,),
        input="",
        capture_output=True,
        text=True,
        env={**os.environ, "PORT": "9", "TMPDIR": str(tmp_path)},
        timeout=60,
        check=False,
    )
    work = Path(done.stderr.splitlines()[0].rpartition(" ")[2])
    assert " ready " in f" {(work / 'status.txt').read_text().replace(chr(10), ' ')}"
    assert (tmp_path / "run" / "logs" / "0001" / "status.txt").read_bytes() == began, "the trial's own files stay"
    shown = subprocess.run(
        ("bash", "-c", script.read_text().replace("exec env", "printf '%s\\n'")),
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PORT": "9"},
        check=True,
    ).stdout.splitlines()
    assert odd in shown, "nothing in a flag is the shell's"
    assert "-Dport=9" in shown
    assert str(kept) not in "".join(shown)
