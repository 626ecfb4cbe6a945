"""The rates of an experiment that goes by what a search has found: a share of the slowest configuration's."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from tracetax.errors import UserError
from tracetax.kinds import declaration_of
from tracetax.model import Experiment, Part, Rates
from tracetax.results.capacity import FILE, CapacityFinding, judged, read_capacity
from tracetax.results.folder import RunFolder
from tracetax.statistics.threshold import three_digits

RUNS = Path("runs")
"""Where runs lie that nobody gave another folder."""


def at_found_rates(experiment: Experiment, rates: Rates, typed: Path | None) -> tuple[Experiment, str]:
    """The experiment, each part at its rate, and a sentence about them.

    ``typed`` is the search to go by; without it the newest one of the experiment that the file names. Raises UserError
    where there is none, or where it has not told a rate for each part.
    """
    run = typed or _newest(experiment, rates)
    limits = _limits(read_capacity(run).configurations)
    if lacking := [part.name for part in experiment.parts if part.name not in limits]:
        raise UserError(
            f"{run} has not found yet at which rates these are to be measured: {', '.join(lacking)}.\n"
            f"If it is a run of {rates.of}, let it go on: ./tracetax capacity --resume {run}"
        )
    parts: list[Part] = []
    for part in experiment.parts:
        rate = three_digits(limits[part.name] * rates.share)
        parameters = declaration_of(part.parameters).at_rate(part.parameters, rate, rates.seconds)
        assert parameters  # the catalog lets only services have such a table
        parts.append(replace(part, parameters=parameters))
    found = f"{100 * rates.share:g} % of the slowest configuration's rate of {run}"
    return replace(experiment, parts=tuple(parts), rates=replace(rates, run=str(run))), f"Rates: {found}."


def _newest(experiment: Experiment, rates: Rates) -> Path:
    """The newest search of the experiment that the file names, by its beginning. Raises UserError without one."""
    begun: dict[tuple[str, Path], Path] = {}
    for file in RUNS.glob(f"*/{FILE}"):
        try:
            manifest = RunFolder(file.parent).manifest
        except UserError:
            continue  # of another version, or cut off: it is no answer to this question
        if manifest.experiment.key == rates.of:
            begun[manifest.invocations[0].started_at, file.parent] = file.parent
    if not begun:
        raise UserError(
            f"{experiment.key} is measured at {100 * rates.share:g} % of the rates that {rates.of} finds on "
            f"this machine, and there is no run of it in {RUNS}/.\n"
            f"Measure them first: ./tracetax run {rates.of}, or name a run by --rates-of runs/…"
        )
    return begun[max(begun)]


def _limits(configurations: Iterable[CapacityFinding]) -> dict[str, float]:
    """By part the rate of its slowest configuration, requests/s; without those of which one is still searched for.

    Where the load could not make the rate that was looked for, what it made is the limit.
    """
    limits: dict[str, list[float]] = {}
    for row in configurations:
        part = row.part.removesuffix(f"-{row.agent}-{row.configuration}".replace(":", "-"))
        seen = [trial.offered for trial in judged(row.trials)]
        if row.at_usage:
            limits.setdefault(part, []).append(row.at_usage.rate.mean)
        elif row.outcome == "none-made" and seen:
            limits.setdefault(part, []).append(max(seen))
        else:
            limits.setdefault(part, []).append(0.0)
    return {part: min(rates) for part, rates in limits.items() if min(rates)}
