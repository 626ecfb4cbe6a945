"""The workload is a factor: a part for each program, with its own settings and the agents for its language."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.conftest import BASELINE, ROOT, TRACER, Repository
from tests.settings import tree
from tracetax.catalog import CatalogError, every_agent, load_agents, load_catalog
from tracetax.catalog.command_line import (
    TypedExperiment,
    TypedSearch,
    adhoc_experiment,
    one_workload,
    searched_experiment,
    typed_workloads,
)
from tracetax.catalog.experiment_file import agents_of, workloads_of
from tracetax.catalog.own.artifacts import with_artifacts
from tracetax.catalog.reading import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.settings import TypedSettings, typed_settings
from tracetax.catalog.workload_file import MeasuredProgram, load_workload, read_programs
from tracetax.errors import UserError
from tracetax.kinds import declaration
from tracetax.model import Experiment, Use

Change = Callable[[Path, str, str], None]
ONE = 'workload = "calltree/java"'
THREE = 'workload = ["calltree/java", "calltree/node", "calltree/go"]'
OF_NODE = TRACER.replace('language = "java"', 'language = "node"').replace(
    "[configurations.stock]", "[configurations.own]"
)
OTHER = TRACER.replace("Tracer", "Other").replace("tracer", "other")


@pytest.fixture
def several(repository: Repository, change: Change) -> Repository:
    """Three languages. The tracer is there for two: as shipped by another name in each. The other is there for one."""
    repository.write("agents/tracer/node/agent.toml", OF_NODE.replace('extends = "stock"', 'extends = "own"'))
    repository.write("agents/other/java/agent.toml", OTHER)
    repository.write("agents/third/go/agent.toml", OTHER.replace('"java"', '"go"').replace("other", "third"))
    for language in ("node", "go"):
        repository.write(f"agents/none/{language}/agent.toml", BASELINE.replace('"java"', f'"{language}"'))
        repository.workload(language)
    change(repository.experiment, ONE, THREE)
    return repository


def configured(repository: Repository, *groups: str) -> None:
    """Let the experiment measure these groups of configurations."""
    text = repository.experiment.read_text(encoding="utf-8").partition("[[configurations]]")[0]
    repository.experiment.write_text(text + "".join(f"[[configurations]]\n{group}\n" for group in groups))


def loaded(repository: Repository, **typed: Any) -> Experiment:
    settings = TypedSettings(**typed)
    return load_catalog("trial", repository.root, typed=typed_settings(settings))[1]


def typed(repository: Repository, **options: Any) -> Experiment:
    """The experiment that is typed without a file."""
    request = TypedExperiment(**options)
    report, agents = Report(COMMAND_LINE), every_agent(repository.root)
    programs = read_programs(typed_workloads(request), agents, repository.root, report)
    raise_problems(report)
    return adhoc_experiment(programs, request)


def test_each_workload_is_a_part_with_its_settings_and_its_agents(several: Repository, change: Change) -> None:
    change(several.experiment, "[jvm]", "[runtime.node]\nnode = [20, 24]\n[runtime.java]")
    configured(several, 'agent = "tracer"', 'agent = "third"')
    agents, experiment = load_catalog("trial", several.root)
    assert experiment.workload == "calltree/java, calltree/node, calltree/go"
    assert workloads_of("trial", several.root) == ["calltree/java", "calltree/node", "calltree/go"]
    found = [
        (part.name, part.workload, part.settings.get("node"), list(map(str, part.uses))) for part in experiment.parts
    ]
    assert found == [
        ("trial-java", "calltree/java", None, ["tracer stock"]),
        ("trial-node-node-20", "calltree/node", 20, ["tracer own"]),
        ("trial-node-node-24", "calltree/node", 24, ["tracer own"]),
        ("trial-go", "calltree/go", None, ["third stock"]),
    ]
    assert [part.title for part in experiment.parts][:2] == ["An experiment, Java", "An experiment, Node, Node 20"]
    assert [part.levels for part in experiment.parts] == ["Java", "Node, Node 20", "Node, Node 24", "Go"]
    assert experiment.parts[0].settings["heap"] == 1 << 30
    assert {key for key in agents if "none" not in key} == {"tracer/java", "other/java", "tracer/node", "third/go"}
    for part in experiment.parts:
        for use in part.uses:
            assert use.configuration in agents[part.agent_key(use.agent)].configurations


def test_a_list_of_one_workload_is_no_factor(several: Repository, change: Change) -> None:
    change(several.experiment, THREE, 'workload = ["calltree/java"]')
    agents, experiment = load_catalog("trial", several.root)
    assert [(part.name, part.title, part.workload) for part in experiment.parts] == [("trial", "An experiment", "")]
    assert (experiment.workload, set(agents)) == ("calltree/java", {"none", "other", "tracer"})


def test_other_factors_are_crossed_with_the_workload(several: Repository, change: Change) -> None:
    change(several.experiment, "depth = 10", "depth = [2, 4]")
    configured(several, 'agent = "tracer"')
    names = [part.name for part in loaded(several).parts]
    assert names == ["trial-java-depth-2", "trial-java-depth-4", "trial-node-depth-2", "trial-node-depth-4"]


def test_what_a_language_lacks_is_left_out_and_told_once(several: Repository) -> None:
    configured(
        several, 'agent = "tracer"\nuse = ["off", "stock"]', 'agent = "other"', 'agent = "third"\nuse = ["stock"]'
    )
    experiment = loaded(several)
    assert [(part.name, list(map(str, part.uses))) for part in experiment.parts] == [
        ("trial-java", ["tracer off", "tracer stock", "other stock"]),
        ("trial-node", ["tracer off"]),
        ("trial-go", ["third stock"]),
    ]
    assert set(experiment.left_out) == {
        "Left out, since there is no tracer for Go: it is measured in Java and Node only.",
        "Left out, since there is no tracer stock for Node and Go: it is measured in Java only.",
        "Left out, since there is no other for Node and Go: it is measured in Java only.",
        "Left out, since there is no third for Java and Node: it is measured in Go only.",
    }


def test_a_technology_that_a_language_lacks_is_left_out(several: Repository) -> None:
    several.tracer.write_text(
        several.tracer.read_text().replace(
            'instrumentation = "load time"', 'instrumentation = "two"\ntechnology = "one"'
        )
        + '[technologies.one]\ntitle = "one"\n[technologies.two]\ntitle = "two"\n'
    )
    configured(several, 'agent = "tracer"\nuse = ["off"]\ntechnologies = ["two"]')
    experiment = loaded(several)
    assert [list(map(str, part.uses)) for part in experiment.parts] == [["tracer off:two"]]
    assert (
        "Left out, since there is no tracer by two for Node and Go: it is measured in Java only." in experiment.left_out
    )


def test_what_no_language_has_is_an_error_as_with_one_workload(several: Repository) -> None:
    configured(
        several, 'agent = "tracer"\nuse = ["stok", "off"]', 'agent = "trazer"', 'agent = "other"\nuse = ["baseline"]'
    )
    problems = several.problems()
    assert set(problems) == {"configurations[0].use[0]", "configurations[1].agent", "configurations[2].use[0]"}
    assert '"stok" is no configuration of tracer. Did you mean "stock"?' in problems["configurations[0].use[0]"]
    assert '"trazer" is no agent' in problems["configurations[1].agent"]


def test_all_bad_input_is_told_at_once(several: Repository, change: Change) -> None:
    change(
        several.experiment, THREE, 'workload = ["calltree/java", "calltree/nod", "calltree/java", "calltree/python", 5]'
    )
    change(several.experiment, "depth = 10", "depth = 0")
    problems = several.problems()
    assert set(problems) == {"workload[1]", "workload[2]", "workload[3]", "workload[4]", "parameters.depth"}
    assert problems["workload[1]"] == '"calltree/nod" is no workload. Did you mean "calltree/node"?'
    assert problems["workload[2]"] == "calltree/java is named twice"


def test_settings_of_another_runtime_and_a_heap_that_is_missing(several: Repository, change: Change) -> None:
    change(several.experiment, '[jvm]\nheap = "1 GiB"', "[runtime.python]")
    configured(several, 'agent = "tracer"')
    problems = several.problems()
    assert set(problems) == {"runtime.python", "runtime.java.heap"}
    assert (
        "calltree/java, calltree/node, calltree/go do not run on: they run on java, node, native"
        in problems["runtime.python"]
    )


def test_programs_of_different_kinds_are_refused(several: Repository, change: Change) -> None:
    text = (several.root / "workloads/calltree/node/workload.toml").read_text()
    several.write("workloads/other-kind/node/workload.toml", text)
    change(several.experiment, THREE, 'workload = ["calltree/java", "other-kind/node"]')
    configured(several, 'agent = "tracer"')
    expected = "calltree/java and other-kind/node are of different kinds: name programs of one kind, or run each alone"
    assert several.problems() == {"workload": expected}
    with pytest.raises(CatalogError) as caught:
        typed(several, agent="tracer", workload="calltree/java,other-kind/node")
    assert f"--workload: {expected}" in str(caught.value)


def test_published_values_go_with_one_workload(several: Repository) -> None:
    configured(several, 'agent = "tracer"\n[published]\ntable = "x.csv"')
    assert several.problems() == {"published": "goes with one workload, in whose language the publication measured"}


def test_a_setting_that_is_typed_goes_to_the_runtime_that_has_it(several: Repository) -> None:
    configured(several, 'agent = "tracer"')
    parts = loaded(several, settings=("node=24",), heap="2 GiB").parts
    assert [(part.settings.get("heap"), part.settings.get("node")) for part in parts] == [(2 << 30, None), (None, 24)]
    with pytest.raises(CatalogError) as caught:
        loaded(several, settings=("nod=24",))
    assert '--set nod: Java, Node and Go have no setting "nod". Did you mean "node"?' in str(caught.value)


def test_without_a_file_several_workloads_are_typed_with_commas(several: Repository) -> None:
    found = typed(several, agent="tracer,other", workload="calltree/java,calltree/node", heap="2 GiB")
    assert [(part.name, part.title, list(map(str, part.uses))) for part in found.parts] == [
        ("adhoc-java", "At full speed, Java", ["tracer stock", "other stock"]),
        ("adhoc-node", "At full speed, Node", ["tracer own"]),
    ]
    assert found.left_out == ("Left out, since there is no other for Node: it is measured in Java only.",)
    assert set(agents_of(found, every_agent(several.root))) >= {"none/java", "none/node", "tracer/node"}


def test_what_is_typed_and_only_some_languages_have_is_left_out(several: Repository) -> None:
    found = typed(several, agent="tracer", configuration="off,own", workload="calltree/java,calltree/node,calltree/go")
    assert [list(map(str, part.uses)) for part in found.parts] == [["tracer off"], ["tracer off", "tracer own"]]
    assert found.left_out == (
        "Left out, since there is no configuration own for Java and Go: it is measured in Node only.",
        "Left out, since there is no tracer for Go: it is measured in Java and Node only.",
    )


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({"agent": "tracer", "configuration": "bogus"}, ['"bogus" is no configuration of tracer']),
        ({"agent": "trazer"}, ['--agent: "trazer" is no agent. Did you mean "tracer"?']),
        ({"agent": "tracer", "settings": ("nod=24",)}, ["--set nod: Java, Node and Go have no setting"]),
        (
            {"agent": "tracer", "workload": "calltree/jaav,calltree/nod,calltree/java,calltree/java"},
            ['--workload calltree/jaav: "calltree/jaav" is no', "--workload calltree/nod", "is named twice"],
        ),
    ],
)
def test_what_is_typed_and_nothing_has_is_refused(
    several: Repository, options: dict[str, Any], texts: list[str]
) -> None:
    with pytest.raises(CatalogError) as caught:
        typed(several, **{"workload": "calltree/java,calltree/node,calltree/go", **options})
    for text in texts:
        assert text in str(caught.value)


def test_where_one_is_measured_at_a_time_several_are_refused() -> None:
    assert [one_workload(typed) for typed in (None, "calltree/go")] == ["calltree/java", "calltree/go"]
    with pytest.raises(UserError, match='"calltree/go,calltree/java" names several'):
        one_workload("calltree/go,calltree/java")


def test_a_file_of_the_users_is_for_the_agent_of_one_language(several: Repository, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "own.jar", "w") as jar:
        jar.writestr("a.class", "")
    configured(several, 'agent = "tracer"')
    agents, experiment = load_catalog("trial", several.root)
    with pytest.raises(CatalogError, match='"tracer" is no agent'):
        with_artifacts(experiment, agents, [f"tracer.agent={tmp_path}/own.jar"])
    replaced = with_artifacts(experiment, agents, [f"tracer/node.agent={tmp_path}/own.jar"])
    assert [replaced.agents[f"tracer/{language}"].version for language in ("java", "node")] == ["1.2.3", "own.jar"]
    uses = [part.uses for part in replaced.experiment.parts]
    assert uses == [(Use("tracer", "stock"),), (Use("tracer", "own"),)]


def test_the_shipped_experiment_measures_four_languages_as_shipped() -> None:
    agents, experiment = load_catalog("languages", ROOT)
    assert [(part.levels, list(map(str, part.uses))) for part in experiment.parts] == [
        ("Java", ["opentelemetry otlp", "elastic stock", "datadog stock", "kieker binary-tcp"]),
        ("Python", ["opentelemetry otlp-grpc", "elastic stock", "datadog stock", "kieker tcp"]),
        ("Node", ["opentelemetry otlp", "elastic stock", "datadog stock"]),
        ("Go", ["opentelemetry otlp", "elastic stock", "datadog stock"]),
    ]
    assert len(experiment.left_out) == 1
    assert agents["kieker/python"] == load_agents(ROOT, "python")["kieker"]


def test_callers_wait_in_the_first_way_that_their_program_offers(several: Repository, change: Change) -> None:
    configured(several, 'agent = "tracer"', 'agent = "third"')
    waits = {"java": "spin", "node": "park", "go": "spin"}
    for experiment in (
        loaded(several),
        typed(several, agent="tracer,third", workload=",".join(f"calltree/{name}" for name in waits), rate="10/s"),
    ):
        assert {part.workload.partition("/")[2]: tree(part.parameters).wait for part in experiment.parts} == waits
    change(several.experiment, "[parameters]", '[parameters]\nwait = "park"')
    assert {tree(part.parameters).wait for part in loaded(several).parts} == {"park"}


def test_an_agent_is_checked_and_searched_with_callers_that_wait_as_their_program_offers() -> None:
    workload, runtime = load_workload("calltree/node", ROOT)
    assert declaration("calltree").parameters_to_check(workload.offers).wait == "park"
    known = every_agent(ROOT).of("node")
    program = MeasuredProgram(workload.key, runtime, known, offers=workload.offers)
    experiment, _ = searched_experiment(program, TypedSearch(agent="opentelemetry", workload=workload.key))
    assert [tree(part.parameters).wait for part in experiment.parts] == ["park"]
