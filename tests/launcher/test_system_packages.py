"""What the launcher does about a JDK and Maven that are not there."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from .clone import Clone, said

InTerminal = Callable[[Clone, str, tuple[str, ...]], tuple[int, str]]


@pytest.mark.parametrize(
    "arguments", [(), ("list", "agents"), ("report", "x"), ("doctor",), ("run", "--help"), ("run", "--dry-run")]
)
def test_commands_that_measure_nothing_need_no_jdk(clone: Clone, arguments: tuple[str, ...]) -> None:
    said(clone.start(*arguments))
    assert clone.apt_calls() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--agent", "x", "--workload", "calltree/python"),
        ("run", "--workload=calltree/python,calltree/go", "--agent", "x"),
        ("capacity", "--agent", "x", "--workload", "calltree/node"),
        ("check-agent", "x", "--workload", "calltree/go"),
        ("run", "experiments/own.toml"),
        ("run", "own", "--seed", "1"),
        ("run", "--resume", "a run"),
    ],
)
def test_what_runs_on_no_jvm_needs_no_jdk(clone: Clone, arguments: tuple[str, ...]) -> None:
    (clone.root / "experiments").mkdir()
    several = 'title = "Own"\nworkload = [\n  "calltree/python",  # in two languages\n  "calltree/go",\n]\n'
    (clone.root / "experiments" / "own.toml").write_text(several)
    (clone.root / "a run").mkdir()
    manifest = '{"machine":{"isolation":{"workload":[],"companions":[]}},"experiment":{"workload":"calltree/python"}}'
    (clone.root / "a run" / "manifest.json").write_text(manifest)
    said(clone.start(*arguments[:-1], str(clone.root / "a run")) if "a run" in arguments else clone.start(*arguments))
    assert clone.apt_calls() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--agent", "x", "--workload", "calltree/python,calltree/java"),
        ("run", "--agent", "x", "--workload", "calltree/python", "--backend", "y"),
        ("run", "--agent", "x", "--workload", "requests/go"),  # whose store Maven fetches
        ("run", "own"),
        ("run", "nowhere"),
        ("test", "--workload", "calltree/python"),
    ],
)
def test_what_may_run_on_a_jvm_needs_a_jdk(clone: Clone, arguments: tuple[str, ...]) -> None:
    (clone.root / "experiments").mkdir()
    (clone.root / "experiments" / "own.toml").write_text('workload = ["calltree/python", "calltree/java"]\n')
    assert "This machine lacks: a JDK 17 or newer" in clone.start(*arguments).stderr


def test_without_a_terminal_it_stops_and_says_what_to_type(clone: Clone) -> None:
    done = clone.start("run")
    assert done.returncode == 3
    assert "This machine lacks: a JDK 17 or newer (java and javac); Maven (mvn)." in done.stderr
    assert "./tracetax --yes run" in done.stderr
    assert "apt-get install -y openjdk-17-jdk-headless maven" in done.stderr
    assert clone.apt_calls() == []


@pytest.mark.parametrize("arguments", [("--yes", "run", "x"), ("run", "x", "--yes"), ("run", "--yes", "x")])
def test_yes_anywhere_installs_and_is_not_passed_on(clone: Clone, arguments: tuple[str, ...]) -> None:
    done = clone.start(*arguments)
    assert said(done)["arguments"] == ["run", "x"]
    assert "Setting up once: package lists " in done.stderr
    assert clone.apt_calls()[0] == "apt-get update"
    assert clone.apt_calls()[1].endswith("openjdk-17-jdk-headless maven")


def test_continuous_integration_counts_as_yes(clone: Clone) -> None:
    assert said(clone.start("run", CI="true"))["JAVA_HOME"] == str(clone.stand_ins / "jvm" / "java-17")


def test_what_was_installed_is_not_installed_again(clone: Clone) -> None:
    said(clone.start("run", "--yes"))
    calls = len(clone.apt_calls())
    assert clone.start("run").stderr == ""
    assert len(clone.apt_calls()) == calls


def test_on_a_terminal_enter_means_yes(clone: Clone, in_terminal: InTerminal) -> None:
    status, shown = in_terminal(clone, "", ("run",))
    assert status == 0
    assert "Install openjdk-17-jdk-headless maven with apt-get? [Y/n]" in shown


def test_on_a_terminal_no_means_no(clone: Clone, in_terminal: InTerminal) -> None:
    status, shown = in_terminal(clone, "n", ("run",))
    assert status == 3
    assert "Nothing was installed." in shown
    assert clone.apt_calls() == []


def test_only_what_is_missing_is_installed(clone: Clone) -> None:
    clone.add_jdk("21.0.4", "java-21")
    said(clone.start("run", "--yes"))
    assert clone.apt_calls()[-1].endswith(" maven")
    assert "jdk" not in clone.apt_calls()[-1]


def test_the_checks_need_a_c_compiler_and_nothing_else_does(clone: Clone) -> None:
    clone.add_jdk("21.0.4", "java-21")
    clone.add_maven()
    assert clone.start("run").stderr == ""
    done = clone.start("test")
    assert "This machine lacks: a C compiler (gcc)." in done.stderr
    assert "apt-get install -y gcc libc6-dev" in done.stderr
    said(clone.start("test", "--yes"))
    assert clone.apt_calls()[-1].endswith(" gcc libc6-dev")


def test_without_root_it_gives_the_line_with_sudo(clone: Clone) -> None:
    done = clone.start("run", "--yes", FAKE_EUID="1000")
    assert done.returncode == 3
    assert "Type: sudo sh -c 'apt-get update && apt-get install -y openjdk-17-jdk-headless maven'" in done.stderr
    assert clone.apt_calls() == []


def test_without_apt_get_it_names_what_to_install(clone: Clone) -> None:
    (clone.stand_ins / "bin" / "apt-get").unlink()
    done = clone.start("run", "--yes")
    assert done.returncode == 3
    assert "your system's package manager" in done.stderr


def test_a_failing_apt_get_ends_with_its_last_lines(clone: Clone) -> None:
    (clone.stand_ins / "broken").touch()
    done = clone.start("run", "--yes")
    assert done.returncode == 3
    assert "E: Unable to fetch some archives" in done.stderr
    assert str(clone.root / ".venv.log") in done.stderr


def test_an_interruption_is_told_and_ends_the_setting_up(clone: Clone) -> None:
    (clone.stand_ins / "slow").touch()
    with subprocess.Popen(
        (str(clone.root / "tracetax"), "run", "--yes"),
        env=clone.environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as launcher:
        while launcher.poll() is None and not any("install" in call for call in clone.apt_calls()):
            time.sleep(0.02)
        os.killpg(launcher.pid, signal.SIGINT)
        _, told = launcher.communicate(timeout=30)
    assert launcher.returncode == 130
    assert "Setting up was interrupted." in told


def test_a_python_that_cannot_make_environments_is_asked_for(fresh_clone: Clone) -> None:
    (fresh_clone.stand_ins / "bin" / "python3").unlink()
    setup = fresh_clone.root / "scripts" / "setup.bash"
    setup.write_text(setup.read_text().replace("/usr/bin/python3", "/nonexistent/python3"))
    done = fresh_clone.start("list")
    assert done.returncode == 3
    assert "This machine lacks: Python 3.11 or newer with its venv module." in done.stderr
    assert "apt-get install -y python3 python3-venv" in done.stderr


def test_java_home_is_preferred(clone: Clone) -> None:
    clone.add_jdk("17.0.15", "java-17")
    clone.add_maven()
    chosen = clone.add_jdk("25.0.1", "java-25")
    seen = said(clone.start("run", JAVA_HOME=str(chosen)))
    assert seen["JAVA_HOME"] == str(chosen)
    assert f"{chosen}/bin" in seen["PATH"].split(":")


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.21"])
def test_a_jdk_that_is_too_old_is_passed_over(clone: Clone, version: str) -> None:
    old = clone.add_jdk(version, "java-old")
    new = clone.add_jdk("17.0.15", "java-17")
    clone.add_maven()
    assert said(clone.start("run", JAVA_HOME=str(old)))["JAVA_HOME"] == str(new)


def test_a_runtime_without_compiler_is_no_jdk(clone: Clone) -> None:
    (clone.add_jdk("17.0.15", "jre-17") / "bin" / "javac").unlink()
    clone.add_maven()
    assert "This machine lacks: a JDK 17 or newer (java and javac)." in clone.start("run").stderr
