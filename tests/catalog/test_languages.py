"""A product has a folder for each language that it traces; the workload's language picks one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import BASELINE, TRACER, Repository, adhoc
from tracetax.catalog import CatalogError, every_agent, load_agents, load_catalog
from tracetax.catalog.command_line import TypedExperiment
from tracetax.catalog.placeholders import references, sink_protocols
from tracetax.preparation import GoBuild, Packages, PrepareStep

Change = Callable[[Path, str, str], None]
PYTHON = """
name = "Tracer for Python"
homepage = "https://example.org"
licence = "Apache-2.0"
language = "python"
runtime = { min = 11, tested = [11] }
instrumentation = "decorator"
version = "3.2.1"

[[prepare]]
name = "packages"
pip = { lock = "{agent.files}/requirements.lock" }

[configurations.stock]
title = "as shipped"
profile = "stock"
layers = ["I", "C", "W"]
delivery = "lossy"
protocol = "otlp-http"
record_name = "{monitored.method}"
wrapper = ["{prepared.packages}/bin/instrument", "--to={sink.otlp_http}"]
search_path = ["{agent.files}/own", "{prepared.packages}", "{workload.built}"]
flags = ["-X", "importtime"]
"""
GO = """
name = "Tracer for Go"
homepage = "https://example.org"
licence = "Apache-2.0"
language = "go"
runtime = { min = 26, tested = [26] }
instrumentation = "by hand"
version = "0.1"

[[prepare]]
name = "program"
go = { sources = "{agent.files}/traced", program = "traced", replace = { "tracetax/calltree" = "{workload.sources}" } }

[[prepare]]
name = "packages"
npm = { lock = "{agent.files}/package-lock.json" }

[common]
program = "{prepared.program}/traced"

[configurations.off]
title = "off"
layers = ["I"]
delivery = "none"
"""


@pytest.fixture
def languages(repository: Repository) -> Repository:
    """The tracer in three languages, and the baseline in two."""
    repository.write("agents/tracer/python/agent.toml", PYTHON)
    repository.write("agents/tracer/go/agent.toml", GO)
    repository.write("agents/none/python/agent.toml", BASELINE.replace('"java"', '"python"'))
    for language in ("python", "go"):
        repository.workload(language)
    return repository


def test_the_language_picks_the_folder(languages: Repository) -> None:
    assert load_agents(languages.root, "java")["tracer"].version == "1.2.3"
    in_python = load_agents(languages.root, "python")["tracer"]
    assert (in_python.key, in_python.language, in_python.version) == ("tracer", "python", "3.2.1")
    assert in_python.folder_in(Path("/agents")) == Path("/agents/tracer/python")
    assert list(load_agents(languages.root, "go")) == ["tracer"]


def test_every_agent_is_there_for_every_language(languages: Repository) -> None:
    single = [(agent.key, agent.language) for agent in every_agent(languages.root).single]
    assert single == [
        ("none", "java"),
        ("none", "python"),
        ("tracer", "go"),
        ("tracer", "java"),
        ("tracer", "python"),
    ]


def test_an_experiment_gets_the_agents_for_its_workloads_language(languages: Repository, change: Change) -> None:
    change(languages.experiment, "calltree/java", "calltree/python")
    change(languages.experiment, '[jvm]\nheap = "1 GiB"', "")
    change(languages.experiment, '"off", "stock"', '"stock"')
    agents, experiment = load_catalog("trial", languages.root)
    assert {agent.language for agent in agents.values()} == {"python"}
    assert [str(use) for use in experiment.parts[0].uses] == ["tracer stock"]


def test_a_configuration_of_another_language_is_none_of_this_one(languages: Repository, change: Change) -> None:
    change(languages.experiment, "calltree/java", "calltree/python")
    change(languages.experiment, '[jvm]\nheap = "1 GiB"', "")
    assert '"off" is no configuration of tracer' in languages.problems()["configurations[0].use[0]"]


def test_where_the_workload_is_wrong_configurations_are_those_of_any_language(
    languages: Repository, change: Change
) -> None:
    change(languages.experiment, "calltree/java", "calltree/jaav")
    change(languages.experiment, '"off", "stock"', '"off", "stock", "none"')
    assert set(languages.problems()) == {"workload", "configurations[0].use[2]"}


def test_an_agent_that_is_typed_and_has_no_folder_for_the_language_is_told_with_those_that_it_has(
    languages: Repository,
) -> None:
    known = every_agent(languages.root).of("node")
    text = r"tracer has no folder for node: it has go, java, python\. Write agents/tracer/node/agent\.toml"
    with pytest.raises(CatalogError, match=text):
        adhoc(known, TypedExperiment(agent="tracer"))


def test_a_mistake_in_one_language_does_not_concern_an_experiment_in_another(
    languages: Repository, change: Change
) -> None:
    change(languages.root / "agents/tracer/python/agent.toml", 'version = "3.2.1"', "version = 3")
    assert set(languages.problems()) == {"tracer: version"}


def test_the_language_is_the_name_of_the_folder(languages: Repository, change: Change) -> None:
    change(languages.root / "agents/tracer/python/agent.toml", 'language = "python"', 'language = "pyhton"')
    assert languages.problems() == {"tracer: language": '"pyhton" must be the name of its folder, "python"'}


def test_a_folder_for_a_language_without_its_file_is_a_mistake(languages: Repository) -> None:
    (languages.root / "agents" / "tracer" / "node").mkdir()
    assert languages.problems() == {"tracer: file": "there is no such file"}


def test_all_keys_of_the_file_are_read(languages: Repository) -> None:
    in_python, in_go = (load_agents(languages.root, language)["tracer"] for language in ("python", "go"))
    stock = in_python.configurations["stock"]
    assert in_python.prepare == (PrepareStep("packages", pip=Packages("{agent.files}/requirements.lock")),)
    assert stock.wrapper == ("{prepared.packages}/bin/instrument", "--to={sink.otlp_http}")
    assert stock.search_path == ("{agent.files}/own", "{prepared.packages}", "{workload.built}")
    assert sink_protocols(stock) == {"otlp-http"}
    assert in_go.configurations["off"].program == "{prepared.program}/traced"
    replaced = {"tracetax/calltree": "{workload.sources}"}
    assert in_go.prepare[0] == PrepareStep("program", go=GoBuild("{agent.files}/traced", "traced", replaced))
    assert in_go.prepare[1].npm == Packages("{agent.files}/package-lock.json")


def test_what_a_program_and_a_wrapper_name_is_needed(languages: Repository) -> None:
    for language, name, step in (("python", "stock", "packages"), ("go", "off", "program")):
        agent = load_agents(languages.root, language)["tracer"]
        assert [made.name for made in references(agent, [agent.configurations[name]]).steps] == [step]


@pytest.mark.parametrize(
    ("language", "old", "new", "key", "text"),
    [
        ("python", '"{agent.files}/requirements.lock"', '"lock"', "prepare[0].pip.lock", "must begin with a"),
        ("python", "{agent.files}/requ", "{agent.fils}/requ", "prepare[0].pip.lock", 'Did you mean "agent.files"?'),
        ("python", "{ lock", "{ lck", "prepare[0].pip.lck", 'Did you mean "lock"?'),
        ("python", "pip = {", "pip2 = {", "prepare[0].pip2", "there is no such key"),
        ("python", "--to={sink.otlp", "--to={sink.otpl", "configurations.stock.wrapper[1]", "there is no placeholder"),
        ("python", "--to={sink.otlp_http}", "--to=x", "configurations.stock.protocol", "where the sink listens"),
        ("python", '"-X"', '"-c"', "configurations.stock.flags[0]", '"-c" must not stand here'),
        ("python", 'version = "3.2.1"\n', "", "version", "is missing: of what [[prepare]] installs or builds"),
        ("go", '"{prepared.program}/traced"', '"traced"', "common.program", "must begin with a placeholder"),
        ("go", '"{prepared.program}/traced"', '"{trial.dir}/traced"', "common.program", "there is no placeholder"),
        ("go", '"tracetax/calltree"', '"a b"', 'prepare[0].go.replace."a b"', "is not the path of a Go module"),
        ("go", "{workload.sources}", "{workload.soruces}", 'prepare[0].go.replace."tracetax/calltree"', "Did you mean"),
        ("go", "{agent.files}/package", "package", "prepare[1].npm.lock", "must begin with a placeholder"),
        ("java", "{artifacts.agent}", "{workload.classes}", "common.flags[0]", 'is called "{workload.built}" now'),
        ("java", "flags = [\"-java", "jvm = [\"-java", "common.jvm", 'is called "flags" now'),
        ("java", "runtime = {", "java = {", "java", 'is called "runtime" now'),
        ("java", "queue = 2048", 'class_path = ["x"]', "common.class_path", 'is called "search_path" now'),
        ("java", 'language = "java"', 'language = "java"\nversion = "1"', "version", "must not stand beside artifacts"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_once_with_its_key_and_the_way_out(
    languages: Repository, change: Change, language: str, old: str, new: str, key: str, text: str
) -> None:
    change(languages.root / "agents" / "tracer" / language / "agent.toml", old, new)
    found = languages.problems()
    assert f"tracer: {key}" in found
    assert text in found[f"tracer: {key}"]
    of_file = {name for name in found if name.startswith("tracer: ")}
    assert of_file == {f"tracer: {key}"} or "common.jvm" in key  # without its flags it also says no address


def test_what_one_runtime_refuses_another_may_be_given(languages: Repository, change: Change) -> None:
    change(languages.root / "agents/tracer/python/agent.toml", '"-X", "importtime"', '"-Xmx1g"')
    assert languages.problems() == {}


def test_a_folder_of_the_users_may_be_a_product_or_its_folder_for_a_language(
    languages: Repository, tmp_path: Path
) -> None:
    mine = tmp_path / "mine" / "other"
    for language, text in (("java", TRACER), ("python", PYTHON)):
        (mine / language).mkdir(parents=True)
        (mine / language / "agent.toml").write_text(text)
    for given in (tmp_path / "mine", mine, mine / "python"):
        agent = load_agents(languages.root, "python", [given])["other"]
        assert (agent.folder, agent.folder_in(Path("/agents"))) == (str(mine / "python"), mine / "python")
    assert "other" in load_agents(languages.root, "java", [mine])
    assert "other" not in load_agents(languages.root, "java", [mine / "python"])


def test_a_folder_of_the_users_may_add_a_language_to_an_agent_but_not_replace_one(
    languages: Repository, tmp_path: Path
) -> None:
    for language in ("node", "python"):
        (tmp_path / "mine" / "tracer" / language).mkdir(parents=True)
        text = PYTHON.replace('"python"', f'"{language}"').replace('flags = ["-X", "importtime"]', "")
        (tmp_path / "mine" / "tracer" / language / "agent.toml").write_text(text)
    own = tmp_path / "mine" / "tracer" / "node"
    assert load_agents(languages.root, "node", [own])["tracer"].folder == str(own)
    with pytest.raises(CatalogError, match='an agent by the name of "tracer" for python already'):
        every_agent(languages.root, [tmp_path / "mine"])
