"""Files of a run that end in their middle are named with the way out, and following it helps."""

import shutil
from pathlib import Path

import pytest

from tests.faults.scene import Harm, codes, finished, is_complete, manifest_of, measured
from tests.run.stand_ins import configuration
from tracetax.errors import UserError
from tracetax.results.folder import RunFolder


@pytest.fixture
def run(tmp_path: Path, sink_binary: Path) -> Path:
    measured(tmp_path / "run", sink_binary)
    return tmp_path / "run"


def cut(file: Path, share: float) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_a_record_that_ends_in_its_middle_names_what_to_remove_and_its_block_is_measured_again(
    run: Path, sink_binary: Path, share: float
) -> None:
    victim = run / "trials" / "0002"
    cut(victim / "record.json", share)
    with pytest.raises(UserError, match=rf"Remove {victim} and type: \./tracetax run --resume {run}"):
        measured(run, sink_binary)
    shutil.rmtree(victim)
    _, folder = measured(run, sink_binary)
    assert is_complete(folder)


@pytest.mark.parametrize("name", ["series.parquet", "distributions.parquet"])
def test_a_table_that_ends_in_its_middle_names_what_to_remove(run: Path, sink_binary: Path, name: str) -> None:
    victim = run / "trials" / "0003"
    cut(victim / name, 0.5)
    with pytest.raises(UserError, match=f"Remove {victim}"):
        RunFolder(run).consolidate()
    shutil.rmtree(victim)
    _, folder = measured(run, sink_binary)
    assert is_complete(folder)


@pytest.mark.parametrize("share", [0.0, 0.9])
def test_a_manifest_that_ends_in_its_middle_is_said_and_nothing_else_is_touched(
    run: Path, sink_binary: Path, share: float
) -> None:
    whole, before = (run / "manifest.json").read_bytes(), finished(run)
    assert manifest_of(run)
    cut(run / "manifest.json", share)
    with pytest.raises(UserError, match=r"manifest\.json cannot be read(?s:.*)Put a copy of it back"):
        measured(run, sink_binary)
    assert finished(run) == before
    (run / "manifest.json").write_bytes(whole)
    _, folder = measured(run, sink_binary, blocks=3)
    assert is_complete(folder, blocks=3)


def test_what_a_kill_left_of_a_trial_is_no_trial(run: Path, sink_binary: Path) -> None:
    left = run / "trials" / ".0007"
    shutil.copytree(run / "trials" / "0006", left)
    cut(left / "record.json", 0.5)
    before = finished(run)
    RunFolder(run).discard_unfinished()
    _, folder = measured(run, sink_binary, blocks=3)
    assert before.items() <= finished(run).items()
    assert is_complete(folder, blocks=3)


def test_a_workload_that_leaves_half_a_result_fails_its_trial(tmp_path: Path, sink_binary: Path) -> None:
    harm = Harm()
    measured(tmp_path / "run", sink_binary, harm, configuration("half-written"), blocks=1)
    assert codes(harm.ended) == ["output-broken", "output-broken"]
    assert not list((tmp_path / "run" / "trials").glob("*/workload"))
