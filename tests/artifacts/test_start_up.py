"""The classes that a program calls when it starts."""

import re
from pathlib import Path

import pytest

from tracetax.artifacts.start_up import build_start_up, generated
from tracetax.program import Monitored, StartUp

CLASSES = StartUp(
    entry="generated.Entry", monitored=Monitored("generated.Asked", "Asked", "*"), others="generated.Unasked"
)
METHOD = re.compile(r"public long method\d+\(")
CALL = re.compile(r"sum \+= (\w+)\.method(\d+)\(")


@pytest.mark.parametrize(("methods", "monitored"), [(10, 0), (10, 3), (10, 10)])
def test_monitored_methods_lie_in_a_class_of_their_own_and_each_is_called_once(methods: int, monitored: int) -> None:
    sources = generated(CLASSES, methods, monitored)
    assert len(METHOD.findall(sources["generated.Asked"])) == monitored
    assert len(METHOD.findall(sources["generated.Unasked"])) == methods - monitored
    calls = CALL.findall(sources["generated.Entry"])
    assert len(set(calls)) == len(calls) == methods


def test_they_are_compiled_once_for_the_same_numbers(tmp_path: Path) -> None:
    said: list[str] = []
    folder = build_start_up(CLASSES, 4, 1, tmp_path, said.append)
    assert (folder / "generated" / "Entry.class").is_file()
    assert build_start_up(CLASSES, 4, 1, tmp_path, said.append) == folder
    assert len(said) == 1
    assert build_start_up(CLASSES, 4, 2, tmp_path, said.append) != folder


def test_the_most_that_an_experiment_may_ask_for_compiles(tmp_path: Path) -> None:
    folder = build_start_up(CLASSES, 5_000, 5_000, tmp_path)
    assert (folder / "generated" / "Asked.class").is_file()
