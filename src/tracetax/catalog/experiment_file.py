"""Reads experiments: a name in ``experiments/`` or the path of a file, with every problem of every file at once."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from tracetax.catalog.agent_file import Known, configured, listed, read_agents, unknown_agent
from tracetax.catalog.experiment_shape import (
    ExperimentShape,
    JvmShape,
    PartShape,
    UsesShape,
    Variant,
    VariantShape,
    check_variants,
    combinations,
    overridden,
    scheduled,
    too_long,
    version_of,
)
from tracetax.catalog.published import published_rows
from tracetax.catalog.reading import CatalogError, Report, did_you_mean, join, one_of, raise_problems, read_file
from tracetax.errors import UserError
from tracetax.model import BASELINE, Agent, Experiment, Part, PublishedLine, PublishedRow, Use


def load_experiment(name_or_path: str, agents: Mapping[str, Agent], root: Path, *, variant: Variant = "") -> Experiment:
    """One experiment, by its name in ``root/experiments`` or the path of a file, in the version that is asked for.

    Raises UserError for an unknown name and CatalogError for a file with problems.
    """
    path, label = find_experiment(name_or_path, root)
    report = Report(label)
    experiment = read_experiment(path, Known(agents), root, report, variant=variant)
    if experiment is None or report.problems:
        raise CatalogError([report])
    return experiment


def load_catalog(
    name_or_path: str, root: Path, own: Sequence[Path] = (), *, variant: Variant = "", jvm: JvmShape | None = None
) -> tuple[dict[str, Agent], Experiment]:
    """All agents and one experiment; what ``jvm`` says goes before the file's JVM settings.

    Raises UserError for an unknown name and CatalogError for files with problems, all of them together.
    """
    agents, reports = read_agents(root, own)
    path, label = find_experiment(name_or_path, root)
    report = Report(label)
    broken = frozenset(Path(other.file).parent.name for other in reports if other.problems)
    experiment = read_experiment(path, Known(agents, broken), root, report, variant=variant, jvm=jvm)
    raise_problems(*reports, report)
    if experiment is None:
        raise CatalogError([report])
    return agents, experiment


def load_experiments(agents: Mapping[str, Agent], root: Path) -> dict[str, Experiment]:
    """Every experiment of ``root/experiments`` by name. Raises CatalogError with the problems of all of them."""
    experiments: dict[str, Experiment] = {}
    reports: list[Report] = []
    for name in experiment_names(root):
        path, label = find_experiment(name, root)
        report = Report(label)
        experiment = read_experiment(path, Known(agents), root, report)
        reports.append(report)
        if experiment is not None:
            experiments[name] = experiment
    raise_problems(*reports)
    return experiments


def experiment_names(root: Path) -> tuple[str, ...]:
    """The names of all experiments in ``experiments/``."""
    return tuple(sorted(path.stem for path in (root / "experiments").glob("*.toml")))


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
    uses = _read_uses(groups, at, language, known, report)
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
            if_given=_uses_if_given(groups, at, uses),
        )


def _uses_of(path: str, part: PartShape, shape: ExperimentShape) -> tuple[tuple[UsesShape, ...], str]:
    """A part's own configurations, or else the experiment's, with the key under which they stand."""
    if part.configurations:
        return part.configurations, join(path, "configurations")
    return shape.configurations, "configurations"


def _read_uses(groups: tuple[UsesShape, ...], path: str, language: str, known: Known, report: Report) -> dict[str, Use]:
    """The configurations named by ``groups``, by the key that names each.

    ``path`` is the key of the list; ``language`` is the workload's, empty where it is not known.
    """
    uses: dict[str, Use] = {}
    for position, group in enumerate(groups):
        key = f"{path}[{position}]"
        agent = known.agents.get(group.agent)
        if not group.use:
            report.add(f"{key}.use", "is an empty list: name at least one configuration")
        if agent is None:
            if group.agent not in known.unreadable:
                report.add(f"{key}.agent", unknown_agent(group.agent, known))
            continue
        if language and agent.language != language:
            report.add(f"{key}.agent", f"{agent.key} traces {agent.language}, the workload is in {language}")
        for technology in _technologies(agent, group, key, report):
            for index, name in enumerate(group.use):
                where = f"{key}.use[{index}]"
                use = Use(agent.key, configured(agent, name, technology))
                if use == BASELINE:
                    report.add(where, "is the baseline, which every block contains twice without being named")
                elif use.configuration not in agent.configurations:
                    hint = did_you_mean(name, agent.configurations)
                    command = listed(f"configurations {agent.key}", [agent])
                    report.add(where, f'"{name}" is no configuration of {agent.key}{hint}   {command}')
                elif use in uses.values():
                    report.add(where, f"{use} is named twice")
                else:
                    uses[f"{where}:{technology}" if technology else where] = use
    return uses


def _technologies(agent: Agent, group: UsesShape, key: str, report: Report) -> tuple[str, ...]:
    """Those that a group names, or an empty name where it names none; none after a problem was reported."""
    if group.technologies is None:
        return ("",)
    if not group.technologies:
        report.add(f"{key}.technologies", "is an empty list: name at least one technology, or leave it out")
    technologies: list[str] = []
    for index, technology in enumerate(group.technologies):
        where = f"{key}.technologies[{index}]"
        if technology not in agent.technologies:
            known = f". It has {one_of(agent.technologies)}" if agent.technologies else ", which has only one way"
            hint = did_you_mean(technology, agent.technologies) or known
            report.add(where, f'"{technology}" is no technology of {agent.key}{hint}')
        elif technology in technologies:
            report.add(where, f"{technology} is named twice")
        else:
            technologies.append(technology)
    if any(":" in name for name in group.use):
        report.add(f"{key}.technologies", "stands beside names that say a technology themselves: leave one of the two")
        return ()
    return tuple(technologies)


def _uses_if_given(groups: tuple[UsesShape, ...], path: str, uses: Mapping[str, Use]) -> tuple[Use, ...]:
    """Those of ``uses``, as ``_read_uses`` gave them, whose group may be left out."""
    optional = tuple(f"{path}[{position}]" for position, group in enumerate(groups) if group.if_given)
    return tuple(use for key, use in uses.items() if key.startswith(optional))
