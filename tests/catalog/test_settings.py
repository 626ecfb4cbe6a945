"""What may be set of a runtime stands in its file: an experiment's file and the command line are read by that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.conftest import BASELINE, JAVA, ROOT, TRACER, Repository
from tracetax.catalog import CatalogError, adhoc_experiment, every_agent, load_catalog
from tracetax.catalog.command_line import TypedExperiment
from tracetax.catalog.settings import TypedSettings, completed, typed_settings
from tracetax.catalog.workload_file import MeasuredProgram, load_workload
from tracetax.model import Experiment

Change = Callable[[Path, str, str], None]
HEAP = '[jvm]\nheap = "1 GiB"\n'
RUNTIME = """
name = "Other"
refused_flags = []
[find]
on_path = "other"
program = "bin/other"
version = { words = ["--version"], pattern = '(.+)' }
[settings.other]
kind = "release"
title = "Other"
releases = { min = 3, max = 9 }
[settings.memory]
kind = "size"
least = "8 MiB"
flags = ["--memory={memory}"]
[settings.speed]
kind = "choice"
choices = ["slow", "fast"]
default = "fast"
flags = ["--{speed}"]
"""


@pytest.fixture
def of_other(repository: Repository, change: Change) -> Repository:
    """The repository, whose experiment measures a workload in a language that no code knows."""
    repository.write("runtimes/other/runtime.toml", RUNTIME)
    text = (ROOT / "workloads/calltree/python/workload.toml").read_text()
    text = text.replace('runtime = "python"', 'runtime = "other"')
    repository.write("workloads/calltree/other/workload.toml", text)
    for name, agent in (("none", BASELINE), ("tracer", TRACER)):
        repository.write(f"agents/{name}/other/agent.toml", agent.replace('language = "java"', 'language = "other"'))
    change(repository.experiment, "calltree/java", "calltree/other")
    change(repository.experiment, HEAP, "")
    return repository


def add(repository: Repository, table: str) -> None:
    repository.experiment.write_text(f"{repository.experiment.read_text()}\n{table}\n")


def loaded(repository: Repository, **typed: Any) -> Experiment:
    return load_catalog("trial", repository.root, typed=typed_settings(TypedSettings(**typed)))[1]


def test_a_runtime_without_settings_that_were_said_has_only_defaults(of_other: Repository) -> None:
    (part,) = loaded(of_other).parts
    assert part.settings == {"speed": "fast"}


def test_settings_of_a_new_runtime_are_factors(of_other: Repository) -> None:
    add(of_other, '[runtime.other]\nother = [4, 8]\nspeed = ["slow", "fast"]\nmemory = "16 MiB"')
    parts = loaded(of_other).parts
    assert [part.name for part in parts] == [
        "trial-other-4-speed-slow",
        "trial-other-4-speed-fast",
        "trial-other-8-speed-slow",
        "trial-other-8-speed-fast",
    ]
    assert parts[0].levels == "Other 4, speed slow"
    assert parts[0].settings == {"other": 4, "speed": "slow", "memory": 16 << 20}


def test_they_can_be_typed(of_other: Repository) -> None:
    parts = loaded(of_other, settings=("other=4,8", "memory=16MiB")).parts
    assert [part.settings for part in parts] == [
        {"other": other, "speed": "fast", "memory": 16 << 20} for other in (4, 8)
    ]


@pytest.mark.parametrize(
    ("table", "key", "text"),
    [
        ("[runtime.other]\nother = 2", "runtime.other.other", "must be between 3 and 9, not 2"),
        ("[runtime.other]\nother = [4, 4]", "runtime.other.other", "names the same value twice"),
        ('[runtime.other]\nmemory = "1 MiB"', "runtime.other.memory", 'is too little for a process: at least "8 MiB"'),
        ('[runtime.other]\nspeed = "fst"', "runtime.other.speed", 'Did you mean "fast"?'),
        ("[runtime.other]\nheap = 1", "runtime.other.heap", "there is no such key. Known here: other, speed, memory"),
        ("[runtime.java]\njdk = 21", "runtime.java", "sets what calltree/other does not run on: it runs on other"),
        ("[jvm]\njdk = 21", "jvm", "is the older name of runtime.java, which sets what calltree/other does not run on"),
        ("[fast.runtime.java]\njdk = 21", "fast.runtime.java", "what can be set of it stands in [runtime.other]"),
        (
            '[[parts]]\nname = "p"\ntitle = "P"\nruntime.java = { jdk = 21 }',
            "parts[0].runtime.java",
            "sets what calltree/other does not run on",
        ),
    ],
)
def test_a_mistake_is_named_by_its_key(of_other: Repository, table: str, key: str, text: str) -> None:
    add(of_other, table)
    found = of_other.problems()
    assert list(found) == [key]
    assert text in found[key]


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ({"heap": "1 GiB"}, '--heap: Other has no setting "heap". It has other, memory, speed'),
        ({"settings": ("sped=fast",)}, '--set sped: Other has no setting "sped". Did you mean "speed"?'),
        ({"settings": ("other=2",)}, "--set other: must be between 3 and 9, not 2"),
    ],
)
def test_an_option_for_what_the_runtime_does_not_have_is_refused(
    of_other: Repository, typed: dict[str, Any], text: str
) -> None:
    with pytest.raises(CatalogError) as caught:
        loaded(of_other, **typed)
    assert text in str(caught.value)


def test_without_a_file_a_workload_has_its_runtimes_settings(of_other: Repository) -> None:
    _, runtime = load_workload("calltree/other", of_other.root)
    typed = TypedExperiment(agent="tracer", workload="calltree/other", settings=("speed=slow,fast",))
    program = MeasuredProgram("calltree/other", runtime, every_agent(of_other.root).of("other"))
    experiment = adhoc_experiment((program,), typed)
    assert experiment.workload == "calltree/other"
    assert [part.settings for part in experiment.parts] == [{"speed": "slow"}, {"speed": "fast"}]


def test_a_runtime_of_which_nothing_can_be_set_says_so(repository: Repository, change: Change) -> None:
    repository.workload("python")
    for name, agent in (("none", BASELINE), ("tracer", TRACER)):
        repository.write(f"agents/{name}/python/agent.toml", agent.replace('language = "java"', 'language = "python"'))
    change(repository.experiment, "calltree/java", "calltree/python")
    found = repository.problems()
    assert list(found) == ["jvm"]
    assert found["jvm"].endswith("it runs on python, and nothing can be set of it")


def test_where_the_workload_is_wrong_all_else_is_told_too(repository: Repository, change: Change) -> None:
    change(repository.experiment, "calltree/java", "calltree/jaav")
    change(repository.experiment, "depth = 10", "depth = 0")
    change(repository.experiment, HEAP, '[runtime.node]\nnode = "20"\n[runtime.jaba]\n')
    assert list(repository.problems()) == ["workload", "parameters.depth", "runtime.jaba", "runtime.node.node"]


def test_a_workload_whose_own_file_is_wrong_is_named_with_what_is_wrong_there(repository: Repository) -> None:
    file = repository.root / "workloads/calltree/java/workload.toml"
    file.write_text(file.read_text().replace("title =", "titel ="))
    (text,) = repository.problems().values()
    assert text.startswith("calltree/java cannot be measured: workloads/calltree/java/workload.toml: titel: ")


def test_defaults_of_what_files_must_say_hold_for_what_is_typed_alone() -> None:
    assert completed({}, JAVA) == {"collector": ("G1",)}
    assert completed({}, JAVA, typed=True) == {"collector": ("G1",), "heap": (1 << 30,)}
    assert completed({"jdk": (21,)}, JAVA) == {"jdk": (21,), "collector": ("G1",)}


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ("min = 3", "min = 10", "settings.other.releases.min", "10 is more than max, 9"),
        ('title = "Other"', 'default = "4"', "settings.other.default", "must not stand beside a release"),
        ('least = "8 MiB"', "releases = { min = 1, max = 2 }", "settings.memory.releases", 'kind is not "release"'),
        ('least = "8 MiB"', "required = true", "settings.memory.default", "is missing: a run without an experiment"),
        ('least = "8 MiB"', 'least = "8 MiB"\ndefault = "1 MiB"', "settings.memory.default", 'at least "8 MiB" is'),
        ('default = "fast"', 'default = "fats"', "settings.speed.default", 'is no choice. Did you mean "fast"?'),
        ('default = "fast"', 'least = "1 MiB"', "settings.speed.least", 'must not stand where kind is not "size"'),
    ],
)
def test_a_mistake_in_what_a_runtime_declares_is_named(
    of_other: Repository, old: str, new: str, key: str, text: str
) -> None:
    assert RUNTIME.count(old) == 1
    of_other.write("runtimes/other/runtime.toml", RUNTIME.replace(old, new))
    with pytest.raises(CatalogError) as caught:
        load_workload("calltree/other", of_other.root)
    (problem,) = (problem for report in caught.value.reports for problem in report.problems)
    assert problem.key == key
    assert text in problem.text
