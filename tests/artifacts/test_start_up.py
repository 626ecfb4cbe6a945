"""The classes that a program calls when it starts."""

import re
from pathlib import Path

import pytest

from tracetax.artifacts.start_up import build_start_up, generated

METHOD = re.compile(r"public long method\d+\(")
CALL = re.compile(r"sum \+= (\w+)\.method(\d+)\(")


@pytest.mark.parametrize(("methods", "monitored"), [(10, 0), (10, 3), (10, 10)])
def test_monitored_methods_lie_in_a_class_of_their_own_and_each_is_called_once(methods: int, monitored: int) -> None:
    sources = generated(methods, monitored)
    assert len(METHOD.findall(sources["Monitored"])) == monitored
    assert len(METHOD.findall(sources["Unmonitored"])) == methods - monitored
    calls = CALL.findall(sources["StartUp"])
    assert len(set(calls)) == len(calls) == methods


def test_they_are_compiled_once_for_the_same_numbers(tmp_path: Path) -> None:
    said: list[str] = []
    folder = build_start_up(4, 1, tmp_path, said.append)
    assert (folder / "tracetax" / "generated" / "StartUp.class").is_file()
    assert build_start_up(4, 1, tmp_path, said.append) == folder
    assert len(said) == 1
    assert build_start_up(4, 2, tmp_path, said.append) != folder


def test_the_most_that_an_experiment_may_ask_for_compiles(tmp_path: Path) -> None:
    assert (build_start_up(5_000, 5_000, tmp_path) / "tracetax" / "generated" / "Monitored.class").is_file()
