"""What the launcher does about a compiler and libraries that a measured agent's library is built with."""

import shutil
from collections.abc import Callable

import pytest

from .clone import Clone, said

InTerminal = Callable[[Clone, str, tuple[str, ...]], tuple[int, str]]
AGENT = """\
name = "Handlers"
[[prepare]]
name = "library"

[prepare.cc]
sources = "{agent.files}/native"
packages = ["libzstd-dev", "liblzo2-dev"]
"""
PACKAGES = "g++ libzstd-dev liblzo2-dev"
LACKS = f"This machine lacks what builds a library of a measured agent: {PACKAGES}."


@pytest.fixture
def clone(clone: Clone) -> Clone:
    """A clone with one agent that has a library, and one that has none, on a machine with a JDK and Maven."""
    for name, text in {"handlers": AGENT, "plain": 'name = "Plain"\n'}.items():
        folder = clone.root / "agents" / name / "java"
        folder.mkdir(parents=True)
        (folder / "agent.toml").write_text(text)
    (clone.root / "experiments").mkdir()
    (clone.root / "experiments" / "own.toml").write_text('[parts.a]\nagents = ["handlers:*"]\n')
    (clone.root / "experiments" / "plain.toml").write_text('title = "without handlers"\nagents = ["plain"]\n')
    clone.add_jdk("21.0.4", "java-21")
    clone.add_maven()
    return clone


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--agent", "plain"),
        ("run", "--agent", "handlers-of-others"),
        ("run", "plain"),
        ("run", "--agent", "handlers", "--dry-run"),
        ("list", "agents"),
    ],
)
def test_what_measures_no_such_agent_needs_no_compiler(clone: Clone, arguments: tuple[str, ...]) -> None:
    assert clone.start(*arguments).stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [("run", "--agent", "plain,handlers"), ("run", "own"), ("check-agent", "handlers"), ("run", "--agent=handlers")],
)
def test_without_a_terminal_it_is_named_and_the_rest_goes_on(clone: Clone, arguments: tuple[str, ...]) -> None:
    done = clone.start(*arguments)
    assert said(done)["arguments"] == list(arguments)
    assert LACKS in done.stderr
    assert (
        f"./tracetax --yes {arguments[0]} …, or type: apt-get update && apt-get install -y {PACKAGES}." in done.stderr
    )
    assert "the rows that need it are set aside" in done.stderr
    assert clone.apt_calls() == []


def test_yes_installs_it_once(clone: Clone) -> None:
    assert "Setting up once: package lists" in clone.start("run", "--agent", "handlers", "--yes").stderr
    assert clone.apt_calls()[1].endswith(f" {PACKAGES}")
    calls = len(clone.apt_calls())
    assert clone.start("run", "--agent", "handlers", "--yes").stderr == ""
    assert len(clone.apt_calls()) == calls


def test_the_projects_tests_need_it_of_every_agent(clone: Clone) -> None:
    clone.add_compiler()
    assert LACKS in clone.start("test").stderr
    assert clone.apt_calls() == []
    clone.start("test", "--yes")
    assert clone.apt_calls()[1].endswith(f" {PACKAGES}")


def test_a_resumed_run_needs_it_too(clone: Clone) -> None:
    run = clone.root / "a run"
    run.mkdir()
    (run / "manifest.json").write_text('{"experiment":{"parts":[{"uses":[{"agent":"handlers"}]}]}}')
    assert LACKS in clone.start("run", "--resume", str(run)).stderr


def test_only_what_is_missing_is_asked_for(clone: Clone) -> None:
    (clone.stand_ins / "libzstd-dev.installed").touch()
    shutil.copy(clone.stand_ins / "mvn", clone.stand_ins / "bin" / "c++")
    assert "a library of a measured agent: liblzo2-dev." in clone.start("run", "--agent", "handlers").stderr


def test_on_a_terminal_no_means_that_the_rest_goes_on(clone: Clone, in_terminal: InTerminal) -> None:
    status, shown = in_terminal(clone, "n", ("run", "--agent", "handlers"))
    assert status == 0
    assert f"Install {PACKAGES} with apt-get? [Y/n]" in shown
    assert "Nothing was installed. Without that, the rows that need it are set aside." in shown
    assert clone.apt_calls() == []


def test_a_failing_apt_get_is_told_and_the_rest_goes_on(clone: Clone) -> None:
    (clone.stand_ins / "broken").touch()
    done = clone.start("run", "--agent", "handlers", "--yes")
    assert said(done)
    assert "Installing it failed" in done.stderr


def test_without_root_or_apt_get_the_way_is_named(clone: Clone) -> None:
    done = clone.start("run", "--agent", "handlers", "--yes", FAKE_EUID="1000")
    assert said(done)
    assert f"Type: sudo sh -c 'apt-get update && apt-get install -y {PACKAGES}'." in done.stderr
    (clone.stand_ins / "bin" / "apt-get").unlink()
    done = clone.start("run", "--agent", "handlers", "--yes")
    assert said(done)
    assert "your system's package manager" in done.stderr
