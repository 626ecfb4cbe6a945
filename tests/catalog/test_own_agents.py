"""``--agents-dir``: agents of the user's beside those that come along; and configurations left out without a file."""

from pathlib import Path

import pytest

from tests.catalog.conftest import TRACER, Repository
from tracetax.catalog import CatalogError, load_agents, load_catalog
from tracetax.catalog.agent_file import Known, listed, unknown_agent
from tracetax.catalog.own.artifacts import with_artifacts


def own(folder: Path, name: str, text: str = TRACER) -> Path:
    file = folder / name / "agent.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return folder


def test_a_folder_of_agents_and_an_agents_folder_are_read_alike(repository: Repository, tmp_path: Path) -> None:
    place = own(tmp_path / "mine", "other")
    for given in (place, place / "other"):
        agents = load_agents(repository.root, "java", [given])
        assert list(agents) == ["none", "tracer", "other"]
        assert agents["other"].folder == str(place / "other")
        assert agents["tracer"].folder == ""


def test_an_experiment_can_measure_them(repository: Repository, tmp_path: Path) -> None:
    place = own(tmp_path / "mine", "other")
    text = repository.experiment.read_text().replace('agent = "tracer"', 'agent = "other"')
    repository.write("experiments/trial.toml", text)
    _, experiment = load_catalog("trial", repository.root, [place])
    assert {use.agent for use in experiment.parts[0].uses} == {"other"}


def test_a_misspelt_name_is_told_where_the_own_ones_are_listed(repository: Repository, tmp_path: Path) -> None:
    place = own(tmp_path / "mine", "other")
    known = Known(load_agents(repository.root, "java", [place]))
    assert unknown_agent("othr", known).endswith(f"(./tracetax list agents --agents-dir {place / 'other'})")
    assert listed("configurations tracer", [known.agents["tracer"]]) == "(./tracetax list configurations tracer)"


@pytest.mark.parametrize(("name", "words"), [("tracer", "already"), ("broken", "delivery")])
def test_mistakes_name_the_file(repository: Repository, tmp_path: Path, name: str, words: str) -> None:
    text = TRACER if name == "tracer" else TRACER.replace('delivery = "lossy"', 'delivery = "lousy"')
    place = own(tmp_path / "mine", name, text)
    with pytest.raises(CatalogError, match=words) as caught:
        load_agents(repository.root, "java", [place])
    assert str(place / name / "agent.toml") in str(caught.value)


def test_a_folder_without_any_agent_is_a_mistake(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="does not exist"):
        load_agents(repository.root, "java", [tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(CatalogError, match="holds no agent"):
        load_agents(repository.root, "java", [tmp_path / "empty"])


GIVEN = 'given = "tracer.jar, from its project"'
MAVEN = 'maven = "org.example:tracer:1.2.3"\nsha256 = "' + "0" * 64 + '"'
MORE = """
[[configurations]]
agent = "rare"
use = ["stock"]
if_given = true
"""


def test_what_needs_a_file_of_the_users_is_left_out_and_told(repository: Repository, tmp_path: Path) -> None:
    repository.write("agents/rare/java/agent.toml", TRACER.replace(MAVEN, GIVEN).replace('"Tracer"', '"Rare"'))
    repository.write("experiments/trial.toml", repository.experiment.read_text() + MORE)
    agents, experiment = load_catalog("trial", repository.root)
    assert {use.agent for use in experiment.parts[0].uses} == {"tracer", "rare"}
    without = with_artifacts(experiment, agents, ())
    assert {use.agent for use in without.experiment.parts[0].uses} == {"tracer"}
    assert without.notes == ("Left out, since a file is not given (--artifact rare.agent=FILE): rare stock.",)
    wrong = tmp_path / "no.jar"
    with pytest.raises(CatalogError, match="there is no such file"):
        with_artifacts(experiment, agents, (f"rare.agent={wrong}",))


def test_without_the_key_a_missing_file_refuses_the_run(repository: Repository) -> None:
    repository.write("agents/rare/java/agent.toml", TRACER.replace(MAVEN, GIVEN))
    text = repository.experiment.read_text() + MORE.replace("if_given = true", "")
    repository.write("experiments/trial.toml", text)
    agents, experiment = load_catalog("trial", repository.root)
    with pytest.raises(CatalogError, match=r"is missing: tracer\.jar, from its project"):
        with_artifacts(experiment, agents, ())
