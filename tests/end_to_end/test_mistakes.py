"""Whatever is typed wrongly, or missing, ends with a sentence: what, where, and what to do."""

import os
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.command import ROOT, tracetax
from tests.results.trials import record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.machine.lock import sole_run


def expect(status: int, *says: str, words: tuple[str, ...], environment: dict[str, str] | None = None) -> str:
    found, printed = tracetax(*words, seconds=120, environment=environment)
    assert found == status, printed
    assert "Traceback" not in printed
    for one in says:
        assert one in " ".join(printed.split()), printed
    return printed


def test_an_unknown_experiment() -> None:
    expect(2, "quik", "quick", "./tracetax list experiments", words=("run", "quik"))


def test_an_unknown_agent() -> None:
    expect(2, '"kiecker" is no agent', 'Did you mean "kieker"', words=("run", "--agent", "kiecker"))


def test_a_rate_without_its_unit() -> None:
    expect(2, "--rate", "1000/s", words=("run", "--agent", "kieker", "--rate", "1000"))


def test_a_half_width_without_its_unit() -> None:
    expect(2, "--half-width", "needs a unit", words=("run", "--half-width", "1"))


def test_every_problem_of_a_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    text = (ROOT / "experiments" / "smoke.toml").read_text()
    file.write_text(text.replace('"otlp"', '"otlp-grcp"').replace("depth = 10", "deph = 10"))
    printed = expect(2, 'Did you mean "otlp-grpc"', 'Did you mean "depth"', words=("run", str(file)))
    assert "problems" in printed


def test_an_option_of_another_command() -> None:
    expect(2, "--depth goes with --agent", words=("run", "quick", "--depth", "3"))


def test_an_unknown_option() -> None:
    status, printed = tracetax("run", "--budgett", "1min")
    assert (status, "Traceback" in printed) == (2, False)


def test_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    expect(2, "is not empty", "--resume", words=("run", "smoke", "--out", str(tmp_path)))
    assert (tmp_path / "mine").read_text() == "keep"


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    expect(2, "is no run folder", words=("run", "--resume", str(tmp_path)))
    expect(2, "is no run folder", words=("report", str(tmp_path)))


def test_no_jdk(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("go", "sh", "env"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    out = str(tmp_path / "run")
    expect(
        3, "No JDK was found", words=("run", "smoke", "--out", out), environment={"PATH": str(tools), "JAVA_HOME": ""}
    )
    assert not Path(out).exists()


def test_a_second_run_on_the_machine() -> None:
    with sole_run():
        expect(4, "Another run is measuring on this machine", str(os.getpid()), words=("run", "smoke"))


def test_a_run_folder_that_may_not_be_made(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("x")
    expect(2, "is not empty", words=("run", "smoke", "--out", str(target)))


@pytest.mark.parametrize("command", [(), ("run",), ("list",), ("report",), ("doctor",), ("test",)])
def test_help_teaches(command: tuple[str, ...]) -> None:
    status, printed = tracetax(*command, "--help")
    assert status == 0
    assert "Usage" in printed


def test_a_plan_in_words_measures_nothing(tmp_path: Path) -> None:
    status, printed = tracetax("run", "--dry-run", "--seed", "5")
    words = " ".join(printed.split())
    assert status == 0
    assert "in random order (seed 5)" in words
    assert "Estimated time" in words
    assert "at 1,000 calls/s" in words


@pytest.mark.parametrize("what", ["agents", "backends", "configurations", "experiments", "runs"])
def test_lists(what: str, tmp_path: Path) -> None:
    status, printed = tracetax("list", what, directory=tmp_path)
    assert status == 0
    expected = {"agents": "kieker", "backends": "zipkin-server", "configurations": "otlp-lossless"}
    expected |= {"experiments": "quick", "runs": "No run"}
    assert expected[what] in printed


@pytest.mark.parametrize(
    ("status", "says", "words"),
    [
        (3, "Java 99 is not on this machine", ("--jdk", "99")),
        (2, "is not empty", ("--out", "docs")),
        (0, "too small for 5 blocks: one block alone takes about", ("--budget", "10s")),
    ],
)
def test_a_dry_run_checks_what_a_run_checks(status: int, says: str, words: tuple[str, ...]) -> None:
    expect(status, says, words=("run", "--dry-run", *words))


def test_a_run_without_a_whole_block_is_not_measured_yet(tmp_path: Path) -> None:
    flat = configuration("flat")
    folder = new_run(tmp_path / "r", experiment(flat), flat)
    folder.scratch(1)
    folder.keep_trial(record(1, 1, "baseline-1", 100.0))
    printed = expect(1, "Not measured yet: no block of it is whole.", words=("report", str(tmp_path / "r")))
    assert printed.count("./tracetax") == 1, "one next command"
    assert f"./tracetax run --resume {tmp_path / 'r'}" in printed
