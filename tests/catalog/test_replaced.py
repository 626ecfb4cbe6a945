"""``--artifact``: files in the place of artifacts, two builds side by side, and every mistake in words."""

import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.catalog.conftest import Repository
from tracetax.catalog import CatalogError, load_catalog
from tracetax.catalog.replaced import Replaced, changed_files, unchanged, with_artifacts
from tracetax.model import Use


def jar(path: Path, content: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("A.class", f"{path}{content}")
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return jar(tmp_path / "one" / "old.jar")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return jar(tmp_path / "two" / "new.jar")


def asked(repository: Repository, *options: str) -> Replaced:
    agents, experiment = load_catalog("trial", repository.root)
    return with_artifacts(experiment, agents, options)


def problems(repository: Repository, *options: str) -> dict[str, str]:
    with pytest.raises(CatalogError) as caught:
        asked(repository, *options)
    return {problem.key: problem.text for report in caught.value.reports for problem in report.problems}


def test_one_file_takes_the_place_of_an_artifact(repository: Repository, new: Path) -> None:
    found = asked(repository, f"tracer.agent={new}")
    agent = found.agents["tracer"]
    assert (agent.version, agent.artifacts["agent"].file, agent.builds) == ("new.jar", str(new), {})
    assert len(agent.artifacts["agent"].sha256) == 64
    assert found.experiment.parts[0].uses == (Use("tracer", "off"), Use("tracer", "stock"))


def test_two_files_measure_every_configuration_of_the_agent_twice(repository: Repository, old: Path, new: Path) -> None:
    found = asked(repository, f"tracer.agent={old},{new}")
    (part,) = found.experiment.parts
    assert [str(use) for use in part.uses] == [
        "tracer off [old.jar]",
        "tracer off [new.jar]",
        "tracer stock [old.jar]",
        "tracer stock [new.jar]",
    ]
    assert [tuple(use.build for use in pair) for pair in part.build_pairs] == [("old.jar", "new.jar")] * 2
    tracer = found.agents["tracer"]
    assert tracer.version == "1.2.3"
    assert tracer.built("new.jar").version == "new.jar"
    assert tracer.built("new.jar").artifacts["agent"].sha256 != tracer.built("old.jar").artifacts["agent"].sha256


def test_builds_of_the_same_name_are_told_apart_by_their_folders(repository: Repository, tmp_path: Path) -> None:
    first, second = jar(tmp_path / "main" / "a.jar"), jar(tmp_path / "branch" / "a.jar")
    assert list(asked(repository, f"tracer.agent={first},{second}").agents["tracer"].builds) == [
        "main/a.jar",
        "branch/a.jar",
    ]


def test_a_build_may_be_compared_with_itself_which_is_said(repository: Repository, old: Path) -> None:
    found = asked(repository, f"tracer.agent={old},{old}")
    assert list(found.agents["tracer"].builds) == ["old.jar (1)", "old.jar (2)"]
    (note,) = found.notes
    assert "have the same content" in note
    assert "compared with itself" in note


def test_different_builds_need_no_word(repository: Repository, old: Path, new: Path) -> None:
    assert asked(repository, f"tracer.agent={old},{new}").notes == ()


def test_everything_that_is_wrong_is_said_at_once(repository: Repository, tmp_path: Path, new: Path) -> None:
    text = tmp_path / "text.jar"
    text.write_text("no zip")
    found = problems(
        repository,
        "agent=x.jar",
        f"tracre.agent={new}",
        f"none.agent={new}",
        f"tracer.agnet={new}",
        f"tracer.agent={tmp_path / 'gone.jar'},{text}",
    )
    assert found["--artifact agent=x.jar"].startswith("must be AGENT.ARTIFACT=FILE")
    assert 'Did you mean "tracer"?' in found["--artifact tracre.agent"]
    assert 'does not measure none, but "tracer"' in found["--artifact none.agent"]
    assert 'Did you mean "agent"?' in found["--artifact tracer.agnet"]
    assert found[f"--artifact tracer.agent={tmp_path / 'gone.jar'}"] == "there is no such file"
    assert found[f"--artifact tracer.agent={text}"].startswith("is no jar")


def test_half_a_jar_is_none(repository: Repository, tmp_path: Path, new: Path) -> None:
    half = tmp_path / "half.jar"
    half.write_bytes(new.read_bytes()[:-8])
    assert "is no jar" in problems(repository, f"tracer.agent={half}")[f"--artifact tracer.agent={half}"]


def test_three_files_or_two_options_for_one_artifact_are_refused(repository: Repository, old: Path, new: Path) -> None:
    assert "names 3 files" in problems(repository, f"tracer.agent={old},{new},{old}")["--artifact tracer.agent"]
    twice = problems(repository, f"tracer.agent={old}", f"tracer.agent={new}")
    assert "is given twice" in twice["--artifact tracer.agent"]


def test_a_run_goes_on_while_its_files_hold_what_they_held(repository: Repository, old: Path, new: Path) -> None:
    measured = asked(repository, f"tracer.agent={old},{new}").agents
    assert changed_files(measured) == []
    new.unlink()
    assert changed_files(measured) == []
    jar(new, "built anew")
    assert changed_files(measured) == [str(new)]


def test_what_was_replaced_does_not_count_as_a_change_of_the_agents_file(
    repository: Repository, old: Path, new: Path
) -> None:
    now = load_catalog("trial", repository.root)[0]["tracer"]
    for option in (f"tracer.agent={new}", f"tracer.agent={old},{new}"):
        measured = asked(repository, option).agents["tracer"]
        assert unchanged(measured, now)
        assert not unchanged(measured, replace(now, licence="another"))
    assert not unchanged(now, None)
