"""The classes that a program calls when it starts."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.artifacts.start_up import build_start_up, generated
from tracetax.catalog.workload_file import load_workload
from tracetax.program import GeneratedFile, Monitored, StartUp, TextPart

ROOT = Path(__file__).resolve().parents[2]
START_UP = load_workload("calltree/java", ROOT)[0].start_up or StartUp("", Monitored("", "", ""), ())
PLACE = "tracetax/generated/"
METHOD = re.compile(r"public long method\d+\(")
CALL = re.compile(r"sum \+= (\w+)\.method(\d+)\(")


@pytest.mark.parametrize(("methods", "monitored"), [(10, 0), (10, 3), (10, 10)])
def test_monitored_methods_lie_in_a_class_of_their_own_and_each_is_called_once(methods: int, monitored: int) -> None:
    sources = generated(START_UP, methods, monitored)
    assert len(METHOD.findall(sources[PLACE + "Monitored.java"])) == monitored
    assert len(METHOD.findall(sources[PLACE + "Unmonitored.java"])) == methods - monitored
    calls = CALL.findall(sources[PLACE + "StartUp.java"])
    assert len(set(calls)) == len(calls) == methods


def test_they_are_compiled_once_for_the_same_numbers(tmp_path: Path) -> None:
    said: list[str] = []
    folder = build_start_up(START_UP, 4, 1, tmp_path, said.append)
    assert (folder / PLACE / "StartUp.class").is_file()
    assert build_start_up(START_UP, 4, 1, tmp_path, said.append) == folder
    assert len(said) == 1
    assert build_start_up(START_UP, 4, 2, tmp_path, said.append) != folder


def test_the_most_that_an_experiment_may_ask_for_compiles(tmp_path: Path) -> None:
    folder = build_start_up(START_UP, 5_000, 5_000, tmp_path)
    assert (folder / PLACE / "Monitored.class").is_file()


def test_other_sources_for_the_same_numbers_are_other_classes(tmp_path: Path) -> None:
    (first, *others) = START_UP.files
    parts = (*first.parts, TextPart("// the same classes\n"))
    changed = replace(START_UP, files=(replace(first, parts=parts), *others))
    assert build_start_up(changed, 2, 1, tmp_path) != build_start_up(START_UP, 2, 1, tmp_path)


def test_a_part_stands_once_or_for_every_method_that_it_is_for() -> None:
    each = TextPart("m{number} ", "monitored"), TextPart("u{number} ", "unmonitored")
    parts = (TextPart("a "), *each, TextPart("{number}"))
    start_up = replace(START_UP, files=(GeneratedFile("b/c", parts),))
    assert generated(start_up, 5, 2) == {"b/c": "a m0 m1 u0 u1 u2 {number}"}
