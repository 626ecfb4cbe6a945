"""``--backend``: configurations are measured a second time, with a real backend in the sink's place."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tracetax.backend import Backend
from tracetax.catalog.names import did_you_mean, one_of
from tracetax.catalog.problems import COMMAND_LINE, Report, raise_problems
from tracetax.model import Agent, Experiment, Use

OPTION = "--backend"


class Backed(Struct, frozen=True):
    """An experiment in which configurations stand once for the sink, and once for every backend that takes theirs."""

    experiment: Experiment
    backends: dict[str, Backend]
    notes: tuple[str, ...]
    """What the user should know before it is measured."""


def with_backends(
    experiment: Experiment, agents: Mapping[str, Agent], backends: Mapping[str, Backend], names: Sequence[str]
) -> Backed:
    """Put in the backends that were named. Raises CatalogError where one is unknown or takes nothing of it."""
    report = Report(COMMAND_LINE)
    used: dict[str, Backend] = {}
    for name in names:
        key = f"{OPTION} {name}"
        if name not in backends:
            known = f": there is {one_of(backends)}" if backends else ": there is none"
            report.add(key, "there is no backend by that name" + (did_you_mean(name, backends) or known))
        elif name in used:
            report.add(key, "is given twice")
        else:
            used[name] = backends[name]
    notes: dict[str, None] = {}
    taken: set[str] = set()

    def behind(use: Use) -> list[Use]:
        """A use at the sink, and at each backend that takes its records."""
        config = agents[use.agent].configurations[use.configuration]
        result = [use]
        for backend in used.values():
            if config.protocol not in backend.accepts:
                continue
            if config.held_until_exit:
                notes[
                    f"{use} is measured at the sink only: it holds back records until its process ends, and a backend "
                    "cannot be told after how many of them the warm-up was over."
                ] = None
                continue
            taken.add(backend.key)
            result.append(replace(use, backend=backend.key))
        return result

    parts = tuple(
        replace(part, uses=tuple(doubled for use in part.uses for doubled in behind(use))) for part in experiment.parts
    )
    for key, backend in used.items():
        if key not in taken:
            text = f"takes records by {one_of(backend.accepts)}, and nothing that {experiment.key} measures"
            report.add(f"{OPTION} {key}", f"{text} sends any that way, or can be measured with it")
    raise_problems(report)
    return Backed(replace(experiment, parts=parts), used, tuple(notes))
