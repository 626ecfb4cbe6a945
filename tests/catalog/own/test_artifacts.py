"""``--artifact``: files in the place of artifacts, two builds side by side, and every mistake in words."""

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.catalog.conftest import Repository
from tracetax.catalog import CatalogError, load_catalog
from tracetax.catalog.own.artifacts import Replaced, changed_files, unchanged, what_differs, with_artifacts
from tracetax.model import Use

MAVEN = 'maven = "org.example:tracer:1.2.3"\nsha256 = "' + "0" * 64 + '"'
OTHER = '\n[artifacts.other]\nmaven = "org.example:other:1:zip"\nsha256 = "' + "0" * 64 + '"\n'
Change = Callable[[Path, str, str], None]


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
        "tracer off [old]",
        "tracer off [new]",
        "tracer stock [old]",
        "tracer stock [new]",
    ]
    assert [tuple(use.build for use in pair) for pair in part.build_pairs] == [("old", "new")] * 2
    tracer = found.agents["tracer"]
    assert tracer.version == "1.2.3"
    assert tracer.built("new").version == "new.jar"
    assert tracer.built("new").artifacts["agent"].sha256 != tracer.built("old").artifacts["agent"].sha256


def test_builds_of_the_same_name_are_told_apart_by_their_folders(repository: Repository, tmp_path: Path) -> None:
    first, second = jar(tmp_path / "main" / "a.jar"), jar(tmp_path / "branch" / "a.jar")
    assert list(asked(repository, f"tracer.agent={first},{second}").agents["tracer"].builds) == [
        "main",
        "branch",
    ]


@pytest.mark.parametrize(
    ("first", "second", "labels"),
    [
        ("kieker-2.0.1-aspectj.jar", "kieker-2.0.2-aspectj.jar", ["2.0.1", "2.0.2"]),
        ("a-2.0.2.jar", "a-2.0.2-SNAPSHOT.jar", ["2.0.2", "2.0.2-SNAPSHOT"]),
        ("a.jar", "a-fix.jar", ["a", "a-fix"]),
        ("fix-a.jar", "a.jar", ["fix-a", "a"]),
        ("x/a_1.jar", "y/a_1.jar", ["x", "y"]),
        ("a-1.jar", "a-1.zip", ["1.jar", "1.zip"]),
        ("one.jar", "two", ["one.jar", "two"]),
    ],
)
def test_builds_are_called_by_what_differs_in_their_names(first: str, second: str, labels: list[str]) -> None:
    assert what_differs(first, second) == labels


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


def test_where_builds_are_not_compared_one_file_is_taken_and_two_are_refused(
    repository: Repository, old: Path, new: Path
) -> None:
    agents, experiment = load_catalog("trial", repository.root)
    found = with_artifacts(experiment, agents, [f"tracer.agent={new}"], most=1)
    assert found.agents["tracer"].artifacts["agent"].file == str(new)
    with pytest.raises(CatalogError, match="builds are compared by"):
        with_artifacts(experiment, agents, [f"tracer.agent={old},{new}"], most=1)


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


def test_a_file_that_only_its_owner_has_must_be_given(repository: Repository, change: Change, new: Path) -> None:
    change(repository.tracer, MAVEN, 'given = "the jar of the release"')
    assert problems(repository) == {
        "--artifact tracer.agent": "is missing: the jar of the release. Give it as: --artifact tracer.agent=FILE"
    }
    assert asked(repository, f"tracer.agent={new}").agents["tracer"].version == "new.jar"


def test_two_builds_of_it_will_do_too(repository: Repository, change: Change, old: Path, new: Path) -> None:
    change(repository.tracer, MAVEN, 'given = "the jar of the release."')
    assert len(asked(repository, f"tracer.agent={old},{new}").agents["tracer"].builds) == 2


def test_a_wrong_file_for_it_is_reported_once(repository: Repository, change: Change, tmp_path: Path) -> None:
    change(repository.tracer, MAVEN, 'given = "the jar of the release"')
    gone = tmp_path / "gone.jar"
    assert problems(repository, f"tracer.agent={gone}") == {f"--artifact tracer.agent={gone}": "there is no such file"}


def test_one_that_no_measured_configuration_refers_to_may_be_missing_and_is_not_replaced_in_vain(
    repository: Repository, change: Change, new: Path
) -> None:
    repository.tracer.write_text(repository.tracer.read_text() + OTHER)
    change(repository.tracer, OTHER, '\n[artifacts.other]\ngiven = "a file"\n')
    assert asked(repository).agents["tracer"].artifacts["other"].file == ""
    found = problems(repository, f"tracer.other={new}")
    assert "no configuration of tracer that trial measures refers to it" in found["--artifact tracer.other"]


def referring(repository: Repository, change: Change, source: str) -> None:
    """Let the measured configurations need a second artifact."""
    repository.tracer.write_text(f"{repository.tracer.read_text()}\n[artifacts.other]\n{source}\n")
    change(
        repository.tracer, '"-Dtracer.to={sink.otlp_http}"', '"-Dtracer.to={sink.otlp_http}", "-D={artifacts.other}"'
    )


def test_an_archive_takes_the_place_of_an_archive(repository: Repository, change: Change, tmp_path: Path) -> None:
    pinned = f'url = "https://example.org/a-1.tar.gz"\nversion = "1"\nsha256 = "{"0" * 64}"'
    referring(repository, change, pinned)
    packed = tmp_path / "mine.tgz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(__file__, "a/test.py")
    assert asked(repository, f"tracer.other={packed}").agents["tracer"].artifacts["other"].file == str(packed)
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "read" in problems(repository, f"tracer.other={packed}")[f"--artifact tracer.other={packed}"]
    packed.write_text("text")
    assert "neither as zip" in problems(repository, f"tracer.other={packed}")[f"--artifact tracer.other={packed}"]


def test_what_is_neither_jar_nor_archive_may_be_any_file_that_is_not_empty(
    repository: Repository, change: Change, tmp_path: Path
) -> None:
    referring(repository, change, 'given = "a licence"')
    plain = tmp_path / "licence.txt"
    plain.write_text("text")
    assert asked(repository, f"tracer.other={plain}").agents["tracer"].artifacts["other"].version == "licence.txt"
    plain.write_text("")
    assert problems(repository, f"tracer.other={plain}")[f"--artifact tracer.other={plain}"] == "is empty"
    named_jar = tmp_path / "licence.jar"
    named_jar.write_text("text")
    assert "is no jar" in problems(repository, f"tracer.other={named_jar}")[f"--artifact tracer.other={named_jar}"]
