"""What every kind of run is refused for before anything is fetched, built or started."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fakes.backends import fake_backend
from tests.run.stand_ins import agents, configuration, experiment
from tracetax.backend import Backend
from tracetax.commands.console import console
from tracetax.commands.opening import Command, new_run
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
