"""What every kind of run is refused for before anything is fetched, built or started."""

import io
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from tests.fakes.backends import fake_backend
from tests.run.stand_ins import agents, configuration, experiment
from tracetax.backend import Backend
from tracetax.commands.console import console
from tracetax.commands.opening import Command, ask_whether_busy, new_run
from tracetax.commands.request import Asked
from tracetax.errors import UserError
from tracetax.machine.facts import machine_facts
from tracetax.run.plan import cells, memory_needed

FLAT = configuration("flat")


@pytest.fixture(autouse=True)
def nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(*_: object, **__: object) -> None:
        raise AssertionError("prepared")

    monkeypatch.setattr("tracetax.run.prepare.prepare", prepare)


def begin(path: Path, backend: Backend | None = None) -> None:
    """Begin a run, at the backend too if there is one."""
    what = experiment(FLAT)
    served = {backend.key: backend} if backend else {}
    if backend:
        part = what.parts[0]
        uses = (*part.uses, *(replace(use, backend=backend.key) for use in part.uses))
        what = replace(what, parts=(replace(part, uses=uses),))
    facts = machine_facts(Path())
    new_run(Asked(what, agents(FLAT), served), Command((), path, console()), path / "run", facts)


def test_a_machine_with_too_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.commands.opening.memory_available", lambda: 1 << 20)
    with pytest.raises(UserError, match=r"GiB of memory, and this machine has 0\.0 GiB free"):
        begin(tmp_path)


def test_a_backend_needs_memory_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = fake_backend().backend
    large = replace(served, start=replace(served.start, memory_bytes=3 << 30))
    alone = memory_needed(cells(experiment(FLAT), agents(FLAT))[0], {})
    monkeypatch.setattr("tracetax.commands.opening.memory_available", lambda: alone + (3 << 30) - 1)
    with pytest.raises(UserError, match=r"flat → fake-server in part .* needs"):
        begin(tmp_path, large)
    for backend in (None, served):
        with pytest.raises(AssertionError, match="prepared"):
            begin(tmp_path / "fits", backend)


def test_a_folder_that_holds_something_else(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="run"):
        begin(tmp_path)
    with pytest.raises(AssertionError, match="prepared"):
        begin(tmp_path / "elsewhere")


class Keyboard(io.StringIO):
    """What somebody types; at its end the terminal says that there is no more."""

    def __init__(self, text: str, *, terminal: bool) -> None:
        super().__init__(text)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def asked(
    monkeypatch: pytest.MonkeyPatch, typed: str, *, cores: float = 1.9, keyboard: bool = True, screen: bool = True
) -> str:
    """What the question on a machine with busy cores prints; KeyboardInterrupt where the answer is no."""

    def busy_cores(_isolation: object) -> float:
        return cores

    monkeypatch.setattr("tracetax.commands.opening.busy_cores", busy_cores)
    monkeypatch.setattr("sys.stdin", Keyboard(typed, terminal=keyboard))
    printed = io.StringIO()
    monkeypatch.setattr("builtins.input", lambda prompt="": _read(printed, prompt))
    ask_whether_busy(
        machine_facts(Path()).isolation, Console(file=printed, force_terminal=screen, color_system=None, width=200)
    )
    return printed.getvalue()


def _read(printed: io.StringIO, prompt: str) -> str:
    printed.write(prompt)
    if line := sys.stdin.readline():
        return line.rstrip("\n")
    raise EOFError


@pytest.mark.parametrize("typed", ["\n", "y\n", "YES \n"])
def test_somebody_at_a_busy_machine_is_asked_and_may_go_on(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.delenv("TRACETAX_YES", raising=False)
    assert "1.9 cores are busy with others; disturbed trials will be repeated. Go on? [Y/n]" in asked(
        monkeypatch, typed
    )


@pytest.mark.parametrize("typed", ["n\n", "no\n", "what\n", ""])
def test_any_other_answer_and_none_at_all_end_the_command(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.delenv("TRACETAX_YES", raising=False)
    with pytest.raises(KeyboardInterrupt):
        asked(monkeypatch, typed)


@pytest.mark.parametrize("silent", ["keyboard", "screen", "--yes"])
def test_where_nobody_can_answer_or_has_answered_it_is_said_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    monkeypatch.delenv("TRACETAX_YES", raising=False)
    if silent == "--yes":
        monkeypatch.setenv("TRACETAX_YES", "1")
    said = asked(monkeypatch, "no\n", keyboard=silent != "keyboard", screen=silent != "screen")
    assert "1.9 cores are busy with others" in said
    assert "Go on?" not in said


def test_a_quiet_machine_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, "no\n", cores=0.0) == ""
