"""Reads experiments: a name in ``experiments/`` or the path of a file, with every problem of every file at once."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from tracetax.catalog.agent_file import EveryAgent, read_agents
from tracetax.catalog.experiment_shape import (
    SECONDS_OF_SERVICE,
    ExperimentShape,
    PartShape,
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
from tracetax.catalog.kinds import kind_of_file
from tracetax.catalog.own.service import program_of_service, with_nothing_learned
from tracetax.catalog.published import published_rows
from tracetax.catalog.reading import CatalogError, Report, did_you_mean, join, parsed, raise_problems, read
from tracetax.catalog.runtime_file import sound_runtimes
from tracetax.catalog.settings import Said, Typed, completed, said_in, settings_path
from tracetax.catalog.uses import read_uses, searched_parts, uses_if_given, uses_of
from tracetax.catalog.workload_file import Lack, MeasuredProgram, left_out, read_programs
from tracetax.errors import UserError
from tracetax.model import Agent, Experiment, Part, PublishedLine, PublishedRow, Rates, Search, kind_name, language_of
from tracetax.program import Runtime
from tracetax.service import OwnService

REPLACED = (5_040,)
"""Calls that stand in parameters until a rate is known: whole cycles of most mixes."""


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
    name_or_path: str,
    root: Path,
    own: Sequence[Path] = (),
    *,
    variant: Variant = "",
    typed: Typed | None = None,
    service: OwnService | None = None,
) -> tuple[dict[str, Agent], Experiment]:
    """One experiment and the agents for its workloads' languages; what was ``typed`` goes before the file's settings.

    ``service`` is the user's own that its file describes, whose language is known.

    Raises UserError for an unknown name and CatalogError for files with problems, all of them together.
    """
    agents, reports = read_agents(root, own)
    path, label = find_experiment(name_or_path, root)
    report = Report(label)
    experiment = read_experiment(path, agents, root, report, variant=variant, typed=typed, service=service)
    raise_problems(*reports, report, *([typed.report] if typed else []))
    if experiment is None:
        raise CatalogError([report])
    return agents_of(experiment, agents), experiment


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


def agents_of(experiment: Experiment, every: EveryAgent) -> dict[str, Agent]:
    """The agents for the languages of an experiment, by what its parts call them."""
    whole: dict[str, Agent] = {}
    for part in experiment.parts:
        workload = part.workload or experiment.workload
        agents = every.of(language_of(workload), kind_name(workload)).agents
        whole |= {part.agent_key(key): agent for key, agent in agents.items()}
    return whole


def service_table(name_or_path: str, root: Path) -> tuple[Path, object] | None:
    """``[service]`` of an experiment, with its file; None where it has none. Raises UserError for no name."""
    path, _ = find_experiment(name_or_path, root)
    document = parsed(path, Report("")) or {}
    return (path, document["service"]) if "service" in document else None


def _add_endpoints(document: dict[str, Any], service: OwnService) -> None:
    """Let the parameters say what is requested, where the file does not: each request by its weight."""
    parameters = document.setdefault("parameters", {})
    if isinstance(parameters, dict):
        cast("dict[str, Any]", parameters).setdefault("endpoint", dict(service.weights))


def workloads_of(name_or_path: str, root: Path) -> list[str]:
    """The workloads of an experiment as its file says them. Raises UserError for no name."""
    document = parsed(find_experiment(name_or_path, root)[0], Report("")) or {}
    return [name for _, name in _named_workloads(document)]


def _named_workloads(document: Mapping[str, object]) -> list[tuple[str, str]]:
    """The workloads that a file names, each with its key; none where something else stands there."""
    said = document.get("workload")
    several: list[tuple[str, object]] = [("workload", said)]
    if isinstance(said, list):
        several = [(f"workload[{index}]", name) for index, name in enumerate(cast("list[object]", said))]
    return [(where, name) for where, name in several if isinstance(name, str) and name]


def read_experiment(
    path: Path,
    agents: EveryAgent,
    root: Path,
    report: Report,
    *,
    variant: Variant = "",
    typed: Typed | None = None,
    service: OwnService | None = None,
) -> Experiment | None:
    """Read and check one experiment; what is returned is of use only where the report has no problem.

    Workloads are read first, because what may be set of their runtimes depends on them. Where one is wrong, the rest
    is read as far as it can be. ``variant`` asks for another version, which a table of that name describes. What was
    ``typed`` goes before all settings of the file.
    """
    document = parsed(path, report)
    if document is None:
        return None
    unknown = MeasuredProgram("", None, agents.of(""))
    programs: Sequence[MeasuredProgram]
    if service:
        programs = (program_of_service(service, agents, root),)
        _add_endpoints(document, service)
    else:
        programs = read_programs(_named_workloads(document), agents, root, report) or (unknown,)
    shape = read(document, shape_for(programs, sound_runtimes(root)), report)
    if bool(shape.workload) == bool(service):
        report.add("workload", "is missing: which program is measured?" if not service else "goes without [service]")
    check_variants(shape, programs, report)
    measured = [_settings(program, programs, shape, variant, typed, report) for program in programs]
    shape = version_of(shape, variant, report)
    parts, lacking = _parts(path.stem, shape, measured, report)
    uses = [use for part in parts for use in part.uses]
    printed: tuple[PublishedRow | PublishedLine, ...] = ()
    if shape.published and len(programs) > 1:
        report.add("published", "goes with one workload, in whose language the publication measured")
    elif shape.published:
        printed = published_rows(shape.published, path.stem, uses, next(iter(programs)).known, root, report)
    search = _search(shape, programs, report)
    if search:
        known = {program.key: program.known.agents for program in programs}
        parts = searched_parts(parts, lambda part: known[part.workload or next(iter(known))])
    return Experiment(
        key=path.stem,
        title=shape.title,
        workload=", ".join(program.key for program in programs) if service else ", ".join(shape.workload),
        parts=with_nothing_learned(parts, service.load) if service else parts,
        service=service,
        schedule=scheduled(shape.schedule, report),
        paper=shape.paper,
        result=shape.result,
        rank_by=shape.rank_by,
        published=tuple(row for row in printed if isinstance(row, PublishedRow)),
        published_lines=tuple(row for row in printed if isinstance(row, PublishedLine)),
        variant=variant,
        left_out=lacking,
        search=search,
        rates=_rates(shape, programs, report),
    )


def _search(shape: ExperimentShape, programs: Sequence[MeasuredProgram], report: Report) -> Search | None:
    """How rates are searched for, where the file has a table that says so."""
    if shape.search is None:
        return None
    if any(kind_of_file(program.key).DRIVES for program in programs if program.key):
        report.add("search", "is about the CPU of a service, and a call tree is none")
    otherwise = Search()
    return Search(
        seconds=SECONDS_OF_SERVICE if shape.search.seconds is None else shape.search.seconds / 1e9,
        further=otherwise.further if shape.search.further is None else shape.search.further,
        usage=shape.search.usage,
    )


def _rates(shape: ExperimentShape, programs: Sequence[MeasuredProgram], report: Report) -> Rates | None:
    """Where rates come from, where the file has a table that says so."""
    said = shape.rates
    if said is None:
        return None
    if any(kind_of_file(program.key).DRIVES for program in programs if program.key):
        report.add("rates", "is about what a search of services has found, and a call tree is none")
    if shape.search:
        report.add("rates", "goes without [search]: one experiment finds the rates, another is measured at them")
    if any(getattr(table, "rate", None) for table in (shape.parameters, *(part.parameters for part in shape.parts))):
        report.add("rates", "goes without parameters.rate: which of the two is it?")
    otherwise = Rates(said.of)
    return Rates(
        of=said.of,
        share=otherwise.share if said.share is None else said.share,
        seconds=otherwise.seconds if said.seconds is None else said.seconds / 1e9,
    )


class _Settings(Struct, frozen=True):
    """A program, and what is said of its runtime's settings, by who says it; nothing where the runtime is not known."""

    program: MeasuredProgram
    typed: Said
    parts: list[Said]
    common: Said

    @property
    def runtime(self) -> Runtime | None:
        """What the program runs on."""
        return self.program.runtime

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


def _settings(
    program: MeasuredProgram,
    programs: Sequence[MeasuredProgram],
    shape: ExperimentShape,
    variant: Variant,
    typed: Typed | None,
    report: Report,
) -> _Settings:
    """What a file, and what was typed, say of the settings of one of the ``programs``."""
    runtime, every = program.runtime, [other.runtime for other in programs if other.runtime]
    return _Settings(
        program=program,
        typed=typed.read(runtime, every) if typed and runtime else {},
        parts=[said_in(f"parts[{index}]", part, runtime, report) for index, part in enumerate(shape.parts)] or [{}],
        common={**said_in("", shape, runtime, report), **settings_of_version(shape, variant, runtime, report)},
    )


def _parts(
    key: str, shape: ExperimentShape, measured: Sequence[_Settings], report: Report
) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """The parts of the experiment, one for each combination of factors, and sentences on what is left out of some.

    Without ``[[parts]]`` the experiment is one part itself.
    """
    parts: list[Part] = []
    lacks: list[Lack] = []
    whole = PartShape(name=key, title=shape.title, parameters=type(shape.parameters)())
    for index, part in enumerate(shape.parts or (whole,)):
        path = f"parts[{index}]" if shape.parts else ""
        groups, at = uses_of(path, part, shape)
        if not groups:
            report.add(at, "is missing: name at least one configuration to measure")
        uses = [read_uses(groups, at, settings.program, lacks, report) for settings in measured]
        for settings, own in zip(measured, uses, strict=True):
            if groups and not own and len(measured) > 1:
                continue  # all of it is left out
            if_given = uses_if_given(groups, at, own)
            for expanded in _expanded((path, index), part, shape, settings, report):
                if any(expanded.name == other.name for other in parts):
                    report.add(join(path, "name"), f'there are two parts by the name of "{expanded.name}"')
                parts.append(replace(expanded, uses=tuple(own.values()), if_given=if_given))
    return tuple(parts), left_out(lacks, [settings.program for settings in measured], report)


def _expanded(
    place: tuple[str, int], part: PartShape, shape: ExperimentShape, settings: _Settings, report: Report
) -> Iterator[Part]:
    """The parts that one of the file comes to with a program, without their uses.

    It stands at ``place``: its key, and which of them it is.
    """
    path, index = place
    parameters, chosen = overridden(part.parameters, shape.parameters), settings.of_part(index)
    levels_at = {
        join(join(path if getattr(part.parameters, name) else "", "parameters"), name): levels
        for name, levels in parameters.items()
    } | {settings.path(path, index, name): levels for name, levels in chosen.items() if name not in settings.typed}
    for where, levels in levels_at.items():
        if len(set(levels)) < len(levels) and not report.concerns(where):
            report.add(where, "names the same value twice")
    kind = kind_of_file(settings.program.key)
    if shape.search or shape.rates:  # both say how long a trial is
        parameters = {kind.CALLS: REPLACED, **parameters}
    missing = [f"parameters.{name}" for name in kind.NEEDED if name not in parameters]
    for key in (*missing, *(settings.path(path, index, name) for name in settings.lacking(index))):
        report.add(key, "is missing")
    kind.check_levels(parameters, settings.program.offers, report)
    tables = [join(section, "parameters") for section in ("", path)]
    tables += [settings_path(section, settings.runtime) for section in ("", path) if settings.runtime]
    if any(map(report.concerns, tables)):
        return
    for combination in combinations(parameters, chosen, settings.program):
        if text := too_long(combination.parameters):
            own = getattr(part.parameters, kind.CALLS)
            report.add(join(join(path if own else "", "parameters"), kind.CALLS), text)
        yield Part(
            name=part.name + combination.suffix,
            title=part.title + combination.title_suffix,
            parameters=combination.parameters,
            uses=(),
            settings=combination.settings,
            levels=combination.levels,
            workload=settings.program.key if settings.program.level else "",
        )
