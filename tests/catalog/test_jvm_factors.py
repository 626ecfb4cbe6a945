"""JDK, collector and heap are factors, of a file, of a part, and of the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.conftest import Repository, adhoc
from tests.settings import java_settings, tree
from tracetax.catalog import CatalogError, every_agent, load_catalog
from tracetax.catalog.command_line import TypedExperiment
from tracetax.catalog.settings import TypedSettings, typed_settings
from tracetax.model import Experiment, settings_key

Change = Callable[[Path, str, str], None]
HEAP = 'heap = "1 GiB"'
PARTS = """
[[parts]]
name = "own"
title = "Own"
jvm = { jdk = 21, heap = "512 MiB" }
[[parts]]
name = "common"
title = "Common"
"""


def loaded(repository: Repository, **typed: Any) -> Experiment:
    return load_catalog("trial", repository.root, typed=typed_settings(TypedSettings(**typed)))[1]


def test_lists_make_one_part_of_each_combination(repository: Repository, change: Change) -> None:
    change(
        repository.experiment, HEAP, 'jdk = [17, 21]\ncollector = ["G1", "Z"]\nheap = ["512 MiB", "2 GiB", "1536 MiB"]'
    )
    parts = loaded(repository).parts
    assert len({part.name for part in parts}) == len({settings_key(part.settings) for part in parts}) == 12
    assert parts[0].name == "trial-jdk-17-collector-g1-heap-512mib"
    assert parts[0].settings == java_settings(512 << 20, "G1", 17)
    assert parts[-1].title == "An experiment, JDK 21, collector Z, heap 1,536 MiB"


def test_parameters_and_jvm_settings_are_crossed(repository: Repository, change: Change) -> None:
    change(repository.experiment, "depth = 10", "depth = [2, 4]")
    change(repository.experiment, HEAP, f"jdk = [17, 21]\n{HEAP}")
    found = [(part.name, tree(part.parameters).depth, part.settings.get("jdk", 0)) for part in loaded(repository).parts]
    assert found == [
        ("trial-depth-2-jdk-17", 2, 17),
        ("trial-depth-2-jdk-21", 2, 21),
        ("trial-depth-4-jdk-17", 4, 17),
        ("trial-depth-4-jdk-21", 4, 21),
    ]


def test_a_parts_own_settings_go_before_key_by_key(repository: Repository, change: Change) -> None:
    change(repository.experiment, HEAP, f'collector = "Serial"\n{HEAP}')
    repository.experiment.write_text(repository.experiment.read_text() + PARTS)
    own, common = loaded(repository).parts
    assert own.settings == java_settings(512 << 20, "Serial", 21)
    assert common.settings == java_settings(1 << 30, "Serial", 0)


def test_the_heap_may_stand_in_the_parts_alone(repository: Repository, change: Change) -> None:
    change(repository.experiment, f"[jvm]\n{HEAP}", "")
    repository.experiment.write_text(repository.experiment.read_text() + PARTS)
    assert repository.problems() == {"runtime.java.heap": "is missing"}
    change(repository.experiment, 'title = "Common"', f'title = "Common"\njvm = {{ {HEAP} }}')
    assert [part.settings["heap"] for part in loaded(repository).parts] == [512 << 20, 1 << 30]


def test_what_was_typed_replaces_what_the_file_says_in_every_part(repository: Repository) -> None:
    repository.experiment.write_text(repository.experiment.read_text() + PARTS)
    parts = loaded(repository, jdk="17,25", heap="2 GiB").parts
    assert [(part.name, part.settings) for part in parts] == [
        ("own-jdk-17", java_settings(2 << 30, "G1", 17)),
        ("own-jdk-25", java_settings(2 << 30, "G1", 25)),
        ("common-jdk-17", java_settings(2 << 30, "G1", 17)),
        ("common-jdk-25", java_settings(2 << 30, "G1", 25)),
    ]


def test_agents_on_the_command_line_have_the_factors_too(repository: Repository) -> None:
    experiment = adhoc(
        every_agent(repository.root).of("java"), TypedExperiment(agent="tracer", jdk="21", collector="Serial, Z")
    )
    assert [(part.name, part.settings) for part in experiment.parts] == [
        ("adhoc-collector-serial", java_settings(1 << 30, "Serial", 21)),
        ("adhoc-collector-z", java_settings(1 << 30, "Z", 21)),
    ]


@pytest.mark.parametrize(
    ("typed", "key", "text"),
    [
        ({"jdk": "7"}, "--jdk", "must be between 8 and 99, not 7"),
        ({"jdk": "17,x"}, "--jdk", 'must be a whole number, not the text "x"'),
        ({"jdk": ""}, "--jdk", "must be a whole number"),
        ({"jdk": "21,21"}, "--jdk", "names the same value twice"),
        ({"collector": "G3"}, "--collector", 'must be one of "G1"'),
        ({"collector": "g1"}, "--collector", 'must be one of "G1"'),
        ({"heap": "2 GiB,1"}, "--heap", "needs a unit"),
        ({"heap": "1024 MiB,1 GiB"}, "--heap", "names the same value twice"),
        ({"settings": ("jdk=7",)}, "--set jdk", "must be between 8 and 99, not 7"),
        ({"settings": ("collector=G1,G3",)}, "--set collector", 'must be one of "G1"'),
        ({"settings": ("heep=1 GiB",)}, "--set heep", 'Java has no setting "heep". Did you mean "heap"?'),
        ({"settings": ("jdk",)}, "--set jdk", "must have a value: --set KEY=VALUE"),
        ({"settings": ("jdk=17", "jdk=21")}, "--set jdk", "is given twice"),
        ({"settings": ("jdk=17",), "jdk": "21"}, "--set jdk", "says the same as --jdk: leave one"),
    ],
)
def test_an_option_is_as_strict_as_a_file(repository: Repository, typed: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(CatalogError, match=f"(?s){key}: .*{text}"):
        loaded(repository, **typed)
    with pytest.raises(CatalogError, match=f"(?s){key}: .*{text}"):
        adhoc(every_agent(repository.root).of("java"), TypedExperiment(agent="tracer", **typed))


@pytest.mark.parametrize(
    ("new", "key", "text"),
    [
        (f"jdk = 7\n{HEAP}", "jvm.jdk", "must be between 8 and 99, not 7"),
        (f'jdk = "21"\n{HEAP}', "jvm.jdk", 'must be a whole number, not the text "21"'),
        (f"jdk = [17, 17]\n{HEAP}", "jvm.jdk", "names the same value twice"),
        (f"jkd = 17\n{HEAP}", "jvm.jkd", 'Did you mean "jdk"?'),
        ("heap = []", "jvm.heap", "is an empty list"),
    ],
)
def test_a_mistake_in_a_file_is_reported_once(
    repository: Repository, change: Change, new: str, key: str, text: str
) -> None:
    change(repository.experiment, HEAP, new)
    found = repository.problems()
    assert list(found) == [key]
    assert text in found[key]


def test_runtime_java_is_another_name_for_jvm(repository: Repository, change: Change) -> None:
    change(repository.experiment, f"[jvm]\n{HEAP}", f'[runtime.java]\njdk = [17, 21]\ncollector = "Z"\n{HEAP}')
    repository.experiment.write_text(repository.experiment.read_text() + PARTS.replace("jvm =", "runtime.java ="))
    assert [(part.name, part.settings) for part in loaded(repository).parts] == [
        ("own", java_settings(512 << 20, "Z", 21)),
        ("common-jdk-17", java_settings(1 << 30, "Z", 17)),
        ("common-jdk-21", java_settings(1 << 30, "Z", 21)),
    ]


def test_a_part_may_say_it_by_the_other_name(repository: Repository) -> None:
    repository.experiment.write_text(repository.experiment.read_text() + PARTS.replace("jvm =", "runtime.java ="))
    assert [part.settings["heap"] for part in loaded(repository).parts] == [512 << 20, 1 << 30]


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (f"[jvm]\n{HEAP}\n[runtime.java]\njdk = 17", "jvm"),
        (f"[jvm]\n{HEAP}\n[runtime.java]\n{HEAP}", "jvm"),
        (f"[jvm]\n{HEAP}\n[runtime.jaba]\njdk = 17", "runtime.jaba"),
        ("[runtime.java]\njdk = 17", "runtime.java.heap"),
        ("[runtime.java]\nheap = 1", "runtime.java.heap"),
        (f"[runtime.java]\njdk = [17, 17]\n{HEAP}", "runtime.java.jdk"),
        (f"[runtime.java]\n{HEAP}\n[fast.runtime.java]\njdk = [17, 17]", "fast.runtime.java.jdk"),
    ],
)
def test_a_mistake_in_either_is_told_once_under_the_name_that_the_file_has_for_it(
    repository: Repository, change: Change, tables: str, expected: str
) -> None:
    change(repository.experiment, f"[jvm]\n{HEAP}", tables)
    assert list(repository.problems()) == [expected]
