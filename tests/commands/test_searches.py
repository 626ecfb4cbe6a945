"""A search and a run lie in folders alike: neither command goes on with the other's."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.cli import ROOT
from tracetax.commands.capacity import capacity_command
from tracetax.commands.report import export_run
from tracetax.commands.request import CapacityRequest, Request
from tracetax.commands.run import run_command
from tracetax.errors import UserError
from tracetax.model import Search
from tracetax.results.folder import RunFolder, check_free

FLAT = configuration("flat")


@pytest.fixture
def search(tmp_path: Path) -> RunFolder:
    folder = new_run(tmp_path / "search", experiment(FLAT), FLAT)
    folder.write_manifest(replace(folder.manifest, search=Search()))
    return folder


def test_run_leaves_a_search_to_the_command_that_began_it(search: RunFolder) -> None:
    with pytest.raises(UserError, match=f"capacity --resume {search.path}"):
        run_command(Request(resume=search.path), Path(), ())


def test_capacity_leaves_a_run_to_the_command_that_began_it(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", experiment(FLAT), FLAT)
    with pytest.raises(UserError, match=f"tracetax run --resume {folder.path}"):
        capacity_command(CapacityRequest(resume=folder.path), Path(), ())


def test_every_advice_names_the_right_command(search: RunFolder) -> None:
    with pytest.raises(UserError, match=f"go on with that run: ./tracetax capacity --resume {search.path}"):
        check_free(search.path)
    with pytest.raises(UserError, match=r"is a search.*capacity\.json"):
        export_run(search.path, "csv", None)


def test_an_experiment_that_searches_refuses_what_only_blocks_have() -> None:
    request = Request(experiment="nou25-throughput", blocks=3, seed=1, dry_run=True)
    with pytest.raises(UserError, match="--blocks, --seed: this experiment searches for rates"):
        run_command(request, ROOT, ())


def test_the_plan_of_an_experiment_that_searches_names_what_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(Request(experiment="nou25-throughput", dry_run=True), ROOT, ()) == 0
    told = capsys.readouterr().out
    assert told.count(": No agent") == 16
    assert "the rate at which a service uses 75 % of 1 core is searched for" in " ".join(told.split())
