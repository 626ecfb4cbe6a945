"""What every kind of run is refused for before anything is fetched, built or started."""

from pathlib import Path

import pytest

from tests.run.stand_ins import agents, configuration, experiment
from tracetax.commands.console import console
from tracetax.commands.opening import new_run
from tracetax.errors import UserError
from tracetax.machine.facts import machine_facts

FLAT = configuration("flat")


@pytest.fixture(autouse=True)
def nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(*_: object, **__: object) -> None:
        raise AssertionError("prepared")

    monkeypatch.setattr("tracetax.run.prepare.prepare", prepare)


def begin(path: Path) -> None:
    new_run(experiment(FLAT), agents(FLAT), path, path / "run", machine_facts(Path()), (), console())


def test_a_machine_with_too_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.commands.opening.memory_available", lambda: 1 << 20)
    with pytest.raises(UserError, match=r"GiB of memory, and this machine has 0\.0 GiB free"):
        begin(tmp_path)


def test_a_folder_that_holds_something_else(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="run"):
        begin(tmp_path)
    with pytest.raises(AssertionError, match="prepared"):
        begin(tmp_path / "elsewhere")
