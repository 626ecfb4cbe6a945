"""Reads an experiment: a name in ``experiments/`` or the path of a file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from tracetax.catalog.experiment_shape import ExperimentShape, JvmShape, PartShape, UsesShape, VariantShape
from tracetax.catalog.factors import combinations, overridden, too_long
from tracetax.catalog.names import did_you_mean, one_of
from tracetax.catalog.problems import Report, join
from tracetax.catalog.published import published_rows
from tracetax.catalog.scheduling import scheduled
from tracetax.catalog.shape import read_file
from tracetax.catalog.uses import Known, read_uses, uses_if_given
from tracetax.catalog.variants import Variant, check_variants, version_of
from tracetax.errors import UserError
from tracetax.model import Experiment, Part, PublishedLine, PublishedRow

Table = TypeVar("Table", ExperimentShape, PartShape, VariantShape)


def find_experiment(name_or_path: str, root: Path) -> tuple[Path, str]:
    """The file of an experiment, and what to call it in a message. Raises UserError for an unknown name."""
    if not name_or_path.endswith(".toml") and "/" not in name_or_path:
        path = root / "experiments" / f"{name_or_path}.toml"
        if not path.is_file():
            hint = did_you_mean(name_or_path, experiment_names(root))
            raise UserError(f'"{name_or_path}" is no experiment{hint}   (./tracetax list experiments)')
        return path, f"experiments/{path.name}"
    given = Path(name_or_path).expanduser()
    inside = root / given
    return (inside if not given.exists() and inside.exists() else given), name_or_path


def experiment_names(root: Path) -> tuple[str, ...]:
    """The names of all experiments in ``experiments/``."""
    return tuple(sorted(path.stem for path in (root / "experiments").glob("*.toml")))


def read_experiment(
    path: Path,
    known: Known,
    root: Path,
    report: Report,
    *,
    variant: Variant = "",
    jvm: JvmShape | None = None,
) -> Experiment | None:
    """Read and check one experiment; what is returned is of use only where the report has no problem.

    ``variant`` asks for another version, which a table of that name describes. What ``jvm`` says goes before all JVM
    settings of the file.
    """
    shape = read_file(path, ExperimentShape, report)
    if shape is None:
        return None
    _check_workload(shape.workload, root, report)
    shape = _settings_joined(shape, report)
    check_variants(shape, report)
    shape = version_of(shape, variant, report)
    parts = _parts(path.stem, shape, jvm or JvmShape(), known, report)
    uses = [use for part in parts for use in part.uses]
    printed = published_rows(shape.published, path.stem, uses, known, root, report) if shape.published else ()
    return Experiment(
        key=path.stem,
        title=shape.title,
        workload=shape.workload,
        parts=parts,
        schedule=scheduled(shape.schedule, report),
        paper=shape.paper,
        result=shape.result,
        rank_by=shape.rank_by,
        published=tuple(row for row in printed if isinstance(row, PublishedRow)),
        published_lines=tuple(row for row in printed if isinstance(row, PublishedLine)),
        variant=variant,
    )


def _settings_joined(shape: ExperimentShape, report: Report) -> ExperimentShape:
    """The experiment with what its tables say in ``[runtime.java]`` as their JVM settings; both is a problem."""

    def joined(path: str, table: Table) -> Table:
        if table.runtime.java is None:
            return table
        if table.jvm != JvmShape():
            report.add(
                join(path, "jvm"), "stands beside runtime.java, of which it is the older name: leave one of them"
            )
            return table
        report.rename(join(path, "jvm"), join(join(path, "runtime"), "java"))
        return replace(table, jvm=table.runtime.java)

    return replace(
        joined("", shape),
        parts=tuple(joined(f"parts[{index}]", part) for index, part in enumerate(shape.parts)),
        fast=joined("fast", shape.fast) if shape.fast else None,
        as_published=joined("as-published", shape.as_published) if shape.as_published else None,
    )


def _check_workload(name: str, root: Path, report: Report) -> None:
    folders = sorted(path for path in (root / "workloads").glob("*/*") if path.is_dir())
    names = [path.relative_to(root / "workloads").as_posix() for path in folders]
    if name not in names:
        hint = did_you_mean(name, names) or f". There is {one_of(names)}"
        report.add("workload", f'"{name}" is no workload{hint}')


def _parts(key: str, shape: ExperimentShape, typed: JvmShape, known: Known, report: Report) -> tuple[Part, ...]:
    """The parts of the experiment, one for each combination of factors; without ``[[parts]]`` it is one itself."""
    parts: list[Part] = []
    whole = PartShape(name=key, title=shape.title)
    for path, part in [(f"parts[{index}]", part) for index, part in enumerate(shape.parts)] or [("", whole)]:
        for expanded in _expanded(path, part, shape, typed, known, report):
            if any(expanded.name == other.name for other in parts):
                report.add(join(path, "name"), f'there are two parts by the name of "{expanded.name}"')
            parts.append(expanded)
    return tuple(parts)


def _expanded(
    path: str, part: PartShape, shape: ExperimentShape, typed: JvmShape, known: Known, report: Report
) -> Iterator[Part]:
    groups, at = _uses_of(path, part, shape)
    language = "" if report.concerns("workload") else shape.workload.partition("/")[2]
    uses = read_uses(groups, at, language, known, report)
    if not groups:
        report.add(at, "is missing: name at least one configuration to measure")
    parameters = overridden(part.parameters, shape.parameters)
    jvm = overridden(typed, part.jvm, shape.jvm)
    for table, own, said in (("parameters", part.parameters, parameters), ("jvm", part.jvm, jvm)):
        for name, levels in said.items():
            where = join(join(path if getattr(own, name) else "", table), name)
            if len(set(levels)) < len(levels) and not report.concerns(where):
                report.add(where, "names the same value twice")
    needed = {"parameters.calls": parameters, "parameters.depth": parameters, "jvm.heap": jvm}
    for key, said in needed.items():
        if key.partition(".")[2] not in said:
            report.add(key, "is missing")
    if max(parameters.get("start_up_monitored", (0,))) > min(parameters.get("start_up_methods", (0,))):
        report.add("parameters.start_up_monitored", "is more than start_up_methods, of which it is a part")
    if max(parameters.get("threads", (1,))) > min(parameters.get("calls", (1,))):
        report.add("parameters.threads", "is more than calls: a thread would have nothing to call")
    if any(parameters.get("start_up_built", ())) and not min(parameters.get("start_up_methods", (0,))):
        report.add("parameters.start_up_built", "has nothing to build: say in start_up_methods how many methods")
    if any(report.concerns(join(section, table)) for section in ("", path) for table in ("parameters", "jvm")):
        return
    for combination in combinations(parameters, jvm):
        if text := too_long(combination.parameters):
            report.add(join(join(path if part.parameters.calls else "", "parameters"), "calls"), text)
        yield Part(
            name=part.name + combination.suffix,
            title=part.title + combination.title_suffix,
            parameters=combination.parameters,
            uses=tuple(uses.values()),
            jvm=combination.jvm,
            levels=combination.levels,
            if_given=uses_if_given(groups, at, uses),
        )


def _uses_of(path: str, part: PartShape, shape: ExperimentShape) -> tuple[tuple[UsesShape, ...], str]:
    """A part's own configurations, or else the experiment's, with the key under which they stand."""
    if part.configurations:
        return part.configurations, join(path, "configurations")
    return shape.configurations, "configurations"
