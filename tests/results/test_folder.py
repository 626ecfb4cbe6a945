"""The run folder: what is finished stays, what is half done never counts."""

import errno
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.results.trials import record
from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.errors import ExitCode, UserError
from tracetax.results.folder import RunFolder, disk_errors, read_json, write_json
from tracetax.results.manifest import MANIFEST_VERSION
from tracetax.results.records import TrialRecord


def test_a_trial_appears_whole(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "r", experiment(configuration("flat")))
    scratch = folder.scratch(1)
    (scratch / "series.parquet").write_bytes(b"x")
    assert folder.trial_folders() == []
    folder.keep_trial(record(number=1))
    assert [path.name for path in folder.trial_folders()] == ["0001"]
    assert folder.records() == [record(number=1)]
    assert not scratch.exists()


def test_what_an_interrupted_trial_left_is_no_trial_and_its_number_is_not_used_again(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "r", experiment(configuration("flat")))
    folder.scratch(1)
    folder.logs(1)
    assert folder.records() == []
    assert folder.next_number() == 2
    folder.discard_unfinished()
    assert folder.next_number() == 2


def test_a_folder_with_something_in_it_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "mine.txt").write_text("keep")
    with pytest.raises(UserError, match="is not empty"):
        new_run(tmp_path / "r", experiment(configuration("flat")))
    assert (tmp_path / "r" / "mine.txt").read_text() == "keep"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    new_run(tmp_path / "r", experiment(configuration("flat")))


def test_a_folder_without_manifest_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run folder"):
        RunFolder(tmp_path)


def test_a_record_of_format_2_is_read_with_its_cell_put_together(tmp_path: Path) -> None:
    folder = new_run(tmp_path / "r", experiment(configuration("flat")))
    kept = record(number=1, build="2.0.jar")
    folder.scratch(1)
    folder.keep_trial(kept)
    file = folder.trial_folders()[0] / "record.json"
    fields = json.loads(file.read_text())
    cell = fields.pop("cell")
    file.write_text(json.dumps({**fields, **cell.pop("use"), **cell}))
    folder.write_manifest(replace(folder.manifest, version=2))
    assert folder.records() == [kept]
    file.write_text(json.dumps(fields))
    with pytest.raises(UserError, match=r"record\.json cannot be read: .*`agent`"):
        folder.records()


@pytest.mark.parametrize("version", [1, MANIFEST_VERSION + 1])
def test_a_folder_of_a_format_that_is_not_known_is_not_read(tmp_path: Path, version: int) -> None:
    folder = new_run(tmp_path / "r", experiment(configuration("flat")))
    folder.write_manifest(replace(folder.manifest, version=version))
    with pytest.raises(UserError, match=f"has the format {version}"):
        folder.records()


def test_a_broken_record_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text('{"number": 1')
    with pytest.raises(UserError, match=r"record\.json"):
        read_json(path, TrialRecord)


def test_writing_replaces_whole_files(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"x": 1})
    write_json(tmp_path / "a.json", {"x": 2})
    assert (tmp_path / "a.json").read_text() == '{"x":2}'
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(("number", "says"), [(errno.ENOSPC, "no space left"), (errno.EROFS, "may not be written")])
def test_a_disk_that_takes_nothing_more_is_a_sentence_with_the_way_on(tmp_path: Path, number: int, says: str) -> None:
    with pytest.raises(UserError, match=says) as error, disk_errors(tmp_path):
        raise OSError(number, "x")
    assert error.value.exit_code == ExitCode.ENVIRONMENT
    assert f"--resume {tmp_path}" in str(error.value)


def test_other_failures_of_the_system_are_not_dressed_up(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="x"), disk_errors(tmp_path):
        raise OSError(errno.EIO, "x")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"number":1', '"number":99999999999999999999999', "number is 99999999999999999999999"),
        ('"number":1', '"number":2', "number is 2"),
        ('"block":1', '"block":-7', "block is -7"),
        ('"spawned":1', '"spawned":9e300', "Expected `int`"),
    ],
)
def test_a_record_with_absurd_numbers_is_told_by_its_file_with_the_way_out(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    folder = new_run(tmp_path / "r", experiment(configuration("flat")))
    folder.scratch(1)
    folder.keep_trial(record(number=1))
    file = tmp_path / "r" / "trials" / "0001" / "record.json"
    text = file.read_text()
    assert old in text, text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        folder.records()
    assert str(file) in str(caught.value)
    assert says in str(caught.value)
    assert f"Remove {file.parent}" in str(caught.value)
