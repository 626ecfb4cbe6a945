"""``[[prepare]]`` in an agent's file: what is read, what is refused, and which steps configurations need."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import TRACER, Repository
from tracetax.catalog import load_agents
from tracetax.catalog.placeholders import made_of_program, references
from tracetax.preparation import Compilation, NativeBuild, PrepareStep, Program

STEPS = """
[artifacts.weaver]
maven = "org.example:weaver:1"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[artifacts.unused]
maven = "org.example:unused:1"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[[prepare]]
name = "woven"
run = { main = "org.example.Weaver", class_path = ["{artifacts.weaver}"], arguments = ["{prepared.home}", "{out}"] }

[[prepare]]
name = "home"
unzip = ["{artifacts.agent}"]
strip = 1
copy = { "config/a.conf" = "{agent.files}/a.conf" }
compile = { sources = "{agent.files}/plugin", class_path = ["{artifacts.agent}"], release = 11, jar = "own.jar" }

[[prepare]]
name = "other"
copy = { "." = "{artifacts.unused}" }

[[prepare]]
name = "native"

[prepare.cc]
sources = "{agent.files}/c"
library = "libown.so"
include = ["{jdk.include}"]
links = ["zstd"]
packages = ["libzstd-dev"]
"""
Change = Callable[[Path, str, str], None]


@pytest.fixture
def steps(repository: Repository, change: Change) -> Repository:
    repository.write("agents/tracer/java/agent.toml", TRACER + STEPS)
    change(repository.tracer, 'title = "as shipped"', 'title = "as shipped"\nsearch_path = ["{prepared.woven}"]')
    return repository


def test_every_kind_of_work_is_read(steps: Repository) -> None:
    agent = load_agents(steps.root, "java")["tracer"]
    assert agent.prepare[:2] == (
        PrepareStep(
            "woven",
            run=Program("org.example.Weaver", ("{artifacts.weaver}",), (), ("{prepared.home}", "{out}")),
        ),
        PrepareStep(
            "home",
            unzip=("{artifacts.agent}",),
            strip=1,
            copy={"config/a.conf": "{agent.files}/a.conf"},
            compile=Compilation("{agent.files}/plugin", ("{artifacts.agent}",), 11, "own.jar"),
        ),
    )
    assert agent.prepare[3].cc == NativeBuild(
        "{agent.files}/c", "libown.so", ("{jdk.include}",), ("zstd",), ("libzstd-dev",)
    )
    assert agent.configurations["stock"].search_path == ("{prepared.woven}",)
    assert agent.configurations["off"].search_path == ("{workload.built}",)


def test_only_what_measured_configurations_refer_to_is_needed_and_after_what_it_needs_itself(
    steps: Repository,
) -> None:
    agent = load_agents(steps.root, "java")["tracer"]
    stock = references(agent, [agent.configurations["stock"]])
    assert set(stock.artifacts) == {"agent", "weaver"}
    assert [step.name for step in stock.steps] == ["home", "woven"]
    off = references(agent, [agent.configurations["off"]])
    assert (off.artifacts, off.steps) == (("agent",), ())


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ("{artifacts.weaver}", "{artifacts.wever}", "prepare[0].run.class_path[0]", 'Did you mean "artifacts.weaver"?'),
        ("{prepared.home}", "{prepared.hme}", "prepare[0].run.arguments[0]", 'Did you mean "prepared.home"?'),
        ("{prepared.home}", "{prepared.woven}", "prepare[0].run.arguments[0]", "there is no placeholder"),
        ("{agent.files}/a.conf", "{trial.dir}/a.conf", 'prepare[1].copy."config/a.conf"', "there is no placeholder"),
        ("{agent.files}/a.conf", "a.conf", 'prepare[1].copy."config/a.conf"', 'as in "{agent.files}/a.conf"'),
        ("config/a.conf", "../a.conf", 'prepare[1].copy."../a.conf"', "is not a path inside the folder"),
        ("config/a.conf", "/a.conf", 'prepare[1].copy."/a.conf"', "is not a path inside the folder"),
        ('"own.jar"', '"a/../../own.jar"', "prepare[1].compile.jar", "is not a path inside the folder"),
        ("release = 11", "release = 7", "prepare[1].compile.release", "must be between 8 and 99, not 7"),
        ('"org.example.Weaver"', '"weaver.jar -x"', "prepare[0].run.main", "is not the name of a Java class"),
        ('name = "home"', 'name = "woven"', "prepare[1].name", 'two steps by the name of "woven"'),
        ('"libown.so"', '"/libown.so"', "prepare[3].cc.library", "is not a path inside the folder"),
        ('["zstd"]', '["-lzstd"]', "prepare[3].cc.links[0]", "is not the name of a library"),
        ('["libzstd-dev"]', '["-y"]', "prepare[3].cc.packages[0]", "is not the name of a Debian package"),
        ("{agent.files}/c", "c", "prepare[3].cc.sources", 'as in "{agent.files}/c"'),
        ("{jdk.include}", "{jdk.includes}", "prepare[3].cc.include[0]", 'Did you mean "jdk.include"?'),
        ('copy = { "." = "{artifacts.unused}" }', "", "prepare[2]", "does nothing"),
        ('copy = { "."', 'strip = 1\ncopy = { "."', "prepare[2].strip", "nothing is unpacked"),
        ("{agent.files}/plugin", "{prepared.woven}", "prepare[0]", "goes in a circle: woven → home → woven"),
        ("{prepared.woven}", "{prepared.wovn}", "configurations.stock.search_path[0]", "Did you mean"),
        ("{prepared.woven}", "{sink.host}", "configurations.stock.search_path[0]", "there is no placeholder"),
    ],
)
def test_a_mistake_is_reported_with_its_key(
    steps: Repository, change: Change, old: str, new: str, key: str, said: str
) -> None:
    change(steps.tracer, old, new)
    found = steps.problems()
    assert said in found[f"tracer: {key}"]
    assert all(name.startswith("tracer: ") for name in found)


def test_the_good_file_has_no_problem(steps: Repository) -> None:
    assert steps.problems() == {}


def test_a_search_path_cannot_be_empty(steps: Repository, change: Change) -> None:
    change(steps.tracer, '["{prepared.woven}"]', "[]")
    assert steps.problems() == {
        "tracer: configurations.stock.search_path": "is an empty list: the program itself must be on it"
    }


def test_what_is_made_of_the_program_is_known_through_the_folders_between() -> None:
    steps = (
        PrepareStep("weaver", compile=Compilation("{agent.files}/weaver")),
        PrepareStep("rewritten", run=Program("W", ("{prepared.weaver}",), arguments=("{workload.sources}", "{out}"))),
        PrepareStep("woven", compile=Compilation("{prepared.rewritten}")),
        PrepareStep("packed", copy={"a": "{workload.built}"}),
    )
    assert [step.name for step in made_of_program(steps)] == ["rewritten", "woven", "packed"]
