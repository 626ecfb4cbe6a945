"""JVM settings from the command line: ``--jdk 17,21``, ``--collector G1,Z``, ``--heap "512 MiB,2 GiB"``."""

from collections.abc import Mapping
from typing import Any

from tracetax.catalog.experiment_shape import JvmShape
from tracetax.catalog.factors import overridden
from tracetax.catalog.problems import COMMAND_LINE, Report, raise_problems
from tracetax.catalog.shape import read


def typed_jvm(*, jdk: str | None = None, collector: str | None = None, heap: str | None = None) -> JvmShape:
    """What was typed, each option a list with commas between; None is one that was not given.

    Raises CatalogError with every problem, named by its option.
    """
    report = Report(COMMAND_LINE)
    shape = read_jvm({"jdk": jdk, "collector": collector, "heap": heap}, report)
    raise_problems(report)
    return shape


def read_jvm(typed: Mapping[str, str | None], report: Report) -> JvmShape:
    """The same, with every problem in ``report``."""
    found: dict[str, Any] = {
        key: [_number(item.strip()) for item in text.split(",")] for key, text in typed.items() if text is not None
    }
    of_file = Report(report.file)
    shape = read(found, JvmShape, of_file)
    for problem in of_file.problems:
        report.add(f"--{problem.key.partition('[')[0]}", problem.text)
    for key, levels in overridden(shape).items():
        if len(set(levels)) < len(levels) and not report.concerns(f"--{key}"):
            report.add(f"--{key}", "names the same value twice")
    return shape


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text
