"""Loads the catalog: all agents, and the experiment that is asked for, with every problem of every file at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tracetax.catalog.agent_file import read_agents
from tracetax.catalog.experiment_file import experiment_names, find_experiment, read_experiment
from tracetax.catalog.experiment_shape import JvmShape
from tracetax.catalog.problems import CatalogError, Report, raise_problems
from tracetax.catalog.uses import Known
from tracetax.catalog.variants import Variant
from tracetax.model import Agent, Experiment


def load_agents(root: Path, own: Sequence[Path] = ()) -> dict[str, Agent]:
    """All agents of ``root/agents``, and in ``own`` folders of the user's, by the name of their folder.

    Raises CatalogError.
    """
    agents, reports = read_agents(root, own)
    raise_problems(*reports)
    return agents


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

    Raises as ``load_experiment``, with the problems of all files together.
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
