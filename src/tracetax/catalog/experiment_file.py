"""Reads experiments: a name in ``experiments/`` or the path of a file, with every problem of every file at once."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tracetax.catalog.agent_file import EveryAgent, Known, configured, listed, read_agents, unknown_agent
from tracetax.catalog.experiment_shape import (
    ExperimentShape,
    PartShape,
    UsesShape,
    Variant,
    check_variants,
    combinations,
    overridden,
    scheduled,
    settings_of_version,
    shape_for,
    too_long,
    version_of,
)
from tracetax.catalog.published import published_rows
from tracetax.catalog.reading import CatalogError, Report, did_you_mean, join, one_of, parsed, raise_problems, read
from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.catalog.settings import Said, Typed, completed, said_in, settings_path
from tracetax.catalog.workload_file import load_workload
from tracetax.errors import UserError
from tracetax.model import BASELINE, Agent, Experiment, Part, PublishedLine, PublishedRow, Use, language_of
from tracetax.program import Runtime


def load_experiment(name_or_path: str, agents: EveryAgent, root: Path, *, variant: Variant = "") -> Experiment:
    """One experiment, by its name in ``root/experiments`` or the path of a file, in the version that is asked for.

    Raises UserError for an unknown name and CatalogError for a file with problems.
    """
    path, label = find_experiment(name_or_path, root)
    report = Report(label)
    experiment = read_experiment(path, agents, root, report, variant=variant)
    if experiment is None or report.problems:
        raise CatalogError([report])
    return experiment


def load_catalog(
    name_or_path: str, root: Path, own: Sequence[Path] = (), *, variant: Variant = "", typed: Typed | None = None
) -> tuple[dict[str, Agent], Experiment]:
    """One experiment and the agents for its workload's language; what was ``typed`` goes before the file's settings.

    Raises UserError for an unknown name and CatalogError for files with problems, all of them together.
    """
    agents, reports = read_agents(root, own)
    path, label = find_experiment(name_or_path, root)
    report = Report(label)
    experiment = read_experiment(path, agents, root, report, variant=variant, typed=typed)
    raise_problems(*reports, report, *([typed.report] if typed else []))
    if experiment is None:
        raise CatalogError([report])
    return dict(agents.of(language_of(experiment.workload)).agents), experiment


def load_experiments(agents: EveryAgent, root: Path) -> dict[str, Experiment]:
    """Every experiment of ``root/experiments`` by name. Raises CatalogError with the problems of all of them."""
    experiments: dict[str, Experiment] = {}
    reports: list[Report] = []
    for name in experiment_names(root):
        path, label = find_experiment(name, root)
        report = Report(label)
        experiment = read_experiment(path, agents, root, report)
        reports.append(report)
        if experiment is not None:
            experiments[name] = experiment
    raise_problems(*reports)
    return experiments


def experiment_names(root: Path) -> tuple[str, ...]:
    """The names of all experiments in ``experiments/``."""
    return tuple(sorted(path.stem for path in (root / "experiments").glob("*.toml")))


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


def workload_of(name_or_path: str, root: Path) -> str:
    """The workload of an experiment as its file says it; empty where it says none. Raises UserError for no name."""
    document = parsed(find_experiment(name_or_path, root)[0], Report("")) or {}
    return str(document.get("workload", ""))


def read_experiment(
    path: Path,
    agents: EveryAgent,
    root: Path,
    report: Report,
    *,
    variant: Variant = "",
    typed: Typed | None = None,
) -> Experiment | None:
    """Read and check one experiment; what is returned is of use only where the report has no problem.

    The workload is read first, because what may be set of its runtime depends on it. Where it is wrong, the rest is
    read as far as it can be. ``variant`` asks for another version, which a table of that name describes. What was
    ``typed`` goes before all settings of the file.
    """
    document = parsed(path, report)
    if document is None:
        return None
    runtime = _runtime(document.get("workload"), root, report)
    shape = read(document, shape_for(str(document.get("workload")), runtime, sound_runtimes(root)), report)
    known = agents.of("" if report.concerns("workload") else language_of(shape.workload))
    check_variants(shape, runtime, report)
    settings = _Settings(
        runtime=runtime,
        typed=typed.read(runtime) if typed and runtime else {},
        parts=[said_in(f"parts[{index}]", part, runtime, report) for index, part in enumerate(shape.parts)] or [{}],
        common={**said_in("", shape, runtime, report), **settings_of_version(shape, variant, runtime, report)},
    )
    shape = version_of(shape, variant, report)
    parts = _parts(path.stem, shape, settings, known, report)
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


def _runtime(workload: object, root: Path, report: Report) -> Runtime | None:
    """What a workload runs on; None after a problem, or where the strict reading of the file will tell one."""
    if not isinstance(workload, str) or not workload:
        return None
    try:
        return load_workload(workload, root)[1]
    except CatalogError as error:
        problems = (f"{other.file}: {one.key}: {one.text}" for other in error.reports for one in other.problems)
        report.add("workload", f"{workload} cannot be measured: {'; '.join(problems)}")
    except UserError as error:
        report.add("workload", str(error))
    return None


class _Settings(Struct, frozen=True):
    """What is said of the runtime's settings, by who says it."""

    runtime: Runtime | None
    """None where the workload is not known: then nothing is said of them."""
    typed: Said
    parts: list[Said]
    common: Said

    def of_part(self, index: int) -> Said:
        """What holds for a part: what was typed goes before what it says, and that before what holds for all."""
        said = {**self.common, **self.parts[index], **self.typed}
        return completed(said, self.runtime) if self.runtime else {}

    def path(self, path: str, index: int, name: str) -> str:
        """The key of a setting in a file, whose part at ``path`` may say it itself."""
        assert self.runtime
        return join(settings_path(path if name in self.parts[index] else "", self.runtime), name)

    def lacking(self, index: int) -> list[str]:
        """What the file must say of a part and does not, and nobody typed."""
        settings = self.runtime.settings.values() if self.runtime else ()
        said = {**self.common, **self.parts[index], **self.typed}
        return [setting.name for setting in settings if setting.required and setting.name not in said]


def _parts(key: str, shape: ExperimentShape, settings: _Settings, known: Known, report: Report) -> tuple[Part, ...]:
    """The parts of the experiment, one for each combination of factors; without ``[[parts]]`` it is one itself."""
    parts: list[Part] = []
    whole = PartShape(name=key, title=shape.title)
    for index, part in enumerate(shape.parts or (whole,)):
        path = f"parts[{index}]" if shape.parts else ""
        for expanded in _expanded((path, index), part, shape, settings, known, report):
            if any(expanded.name == other.name for other in parts):
                report.add(join(path, "name"), f'there are two parts by the name of "{expanded.name}"')
            parts.append(expanded)
    return tuple(parts)


def _expanded(
    place: tuple[str, int], part: PartShape, shape: ExperimentShape, settings: _Settings, known: Known, report: Report
) -> Iterator[Part]:
    """The parts that one of the file comes to, which stands at ``place``: its key, and which of them it is."""
    path, index = place
    groups, at = _uses_of(path, part, shape)
    uses = _read_uses(groups, at, known, report)
    if not groups:
        report.add(at, "is missing: name at least one configuration to measure")
    parameters, chosen = overridden(part.parameters, shape.parameters), settings.of_part(index)
    levels_at = {
        join(join(path if getattr(part.parameters, name) else "", "parameters"), name): levels
        for name, levels in parameters.items()
    } | {settings.path(path, index, name): levels for name, levels in chosen.items() if name not in settings.typed}
    for where, levels in levels_at.items():
        if len(set(levels)) < len(levels) and not report.concerns(where):
            report.add(where, "names the same value twice")
    missing = [f"parameters.{name}" for name in ("calls", "depth") if name not in parameters]
    for key in (*missing, *(settings.path(path, index, name) for name in settings.lacking(index))):
        report.add(key, "is missing")
    _check_parameters(parameters, report)
    tables = [join(section, "parameters") for section in ("", path)]
    tables += [settings_path(section, settings.runtime) for section in ("", path) if settings.runtime]
    if any(map(report.concerns, tables)):
        return
    for combination in combinations(parameters, chosen, settings.runtime):
        if text := too_long(combination.parameters):
            report.add(join(join(path if part.parameters.calls else "", "parameters"), "calls"), text)
        yield Part(
            name=part.name + combination.suffix,
            title=part.title + combination.title_suffix,
            parameters=combination.parameters,
            uses=tuple(uses.values()),
            settings=combination.settings,
            levels=combination.levels,
            if_given=_uses_if_given(groups, at, uses),
        )


def _check_parameters(parameters: Said, report: Report) -> None:
    """Report parameters that do not go together."""
    if max(parameters.get("start_up_monitored", (0,))) > min(parameters.get("start_up_methods", (0,))):
        report.add("parameters.start_up_monitored", "is more than start_up_methods, of which it is a part")
    if max(parameters.get("threads", (1,))) > min(parameters.get("calls", (1,))):
        report.add("parameters.threads", "is more than calls: a thread would have nothing to call")
    if any(parameters.get("start_up_built", ())) and not min(parameters.get("start_up_methods", (0,))):
        report.add("parameters.start_up_built", "has nothing to build: say in start_up_methods how many methods")


def _uses_of(path: str, part: PartShape, shape: ExperimentShape) -> tuple[tuple[UsesShape, ...], str]:
    """A part's own configurations, or else the experiment's, with the key under which they stand."""
    if part.configurations:
        return part.configurations, join(path, "configurations")
    return shape.configurations, "configurations"


def _read_uses(groups: tuple[UsesShape, ...], path: str, known: Known, report: Report) -> dict[str, Use]:
    """The configurations named by ``groups``, by the key that names each; ``path`` is the key of the list."""
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
