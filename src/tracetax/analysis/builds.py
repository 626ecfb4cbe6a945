"""Two builds of an agent against each other: what is said of them, in numbers and in words."""

import math
from collections.abc import Iterable
from typing import Literal

from msgspec.structs import replace

from tracetax.analysis.measures import INDICATIVE_BELOW, make_measure
from tracetax.analysis.statements import two_digits
from tracetax.kinds import declaration_of
from tracetax.model import Part, Schedule, Use, heap_of
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, charged_per_call, service_mean
from tracetax.results.findings import AABand, BuildComparison, Measure
from tracetax.results.manifest import Manifest
from tracetax.results.records import Cell
from tracetax.statistics.equivalence import Judgement, judge
from tracetax.statistics.intervals import Estimate, Floats
from tracetax.statistics.overhead import as_ratio, compare_paired
from tracetax.statistics.regimes import two_regimes
from tracetax.statistics.stopping import projected_blocks
from tracetax.words import plural

EXACT_BELOW = 100
"""Estimated blocks from which the digits after the second would pretend to be known."""
UNDECIDABLE_FROM = 1_000
"""Estimated blocks from which more of them are no way out: at half a minute each they take a night and more."""
MANY = 1.0
"""Difference from which a factor says more than a percentage: twice as long."""


def build_comparisons(manifest: Manifest, blocks: Blocks, bands: Iterable[AABand]) -> tuple[BuildComparison, ...]:
    """One comparison for each part and configuration of which two builds were measured side by side."""
    experiment = manifest.experiment
    # The band is that of one trial against the mean of two (1.5 variances); two builds are one against one (2).
    bands_known = {
        (band.part, band.heap_bytes): None if band.ratio is None else band.ratio * math.sqrt(2 / 1.5) for band in bands
    }
    result: list[BuildComparison] = []
    for part in experiment.parts:
        cells = arranged.configuration_cells(blocks, part.name)
        for older, newer in part.build_pairs:
            first = cells.get(older, Cell(part.name, older, heap_of(part.settings)))
            second = Cell(part.name, newer, first.heap_bytes)
            columns = arranged.side_by_side(blocks, first, second, service_mean)
            if len(columns[0]):
                where = f"{part.title}, " if len(experiment.parts) > 1 else ""
                band = bands_known.get((part.name, first.heap_bytes))
                used = arranged.side_by_side(blocks, first, second, charged_per_call)
                compared = _compared(part, (older, newer), columns, experiment.schedule, band, where)
                result.append(_with_cpu(compared, used))
    return tuple(result)


def _compared(
    part: Part,
    uses: tuple[Use, Use],
    columns: tuple[Floats, Floats],
    schedule: Schedule,
    band: float | None,
    where: str,
) -> BuildComparison:
    first, second = columns
    judged = judge(first, second, schedule.half_width_ratio, schedule.half_width_ns)
    ratio = as_ratio(judged.log_ratio)
    kind = declaration_of(part.parameters)
    units = kind.units(part.parameters, 1)
    difference = compare_paired(second / units, first / units)
    labels: list[str] = []
    if ratio.n < INDICATIVE_BELOW:
        labels.append("indicative")
    if band is not None and abs(judged.log_ratio.mean) <= band:
        labels.append("within-aa-band")
    if two_regimes(first).two or two_regimes(second).two:
        labels.append("two-regimes")
    narrow = (judged.log_ratio.half_width or math.inf) <= judged.margin / 2
    if ratio.n >= INDICATIVE_BELOW and not narrow:
        labels.append("not-settled")
    marks = tuple(labels)
    builds = uses[0].build, uses[1].build

    def measure(unit: Literal["1", "ns"], per: Literal["call", "invocation"], estimate: Estimate) -> Measure:
        return Measure(
            name="service_time",
            unit=unit,
            per=per,
            estimate=estimate.mean,
            sd=estimate.sd,
            ci95=estimate.ci95,
            n_blocks=estimate.n,
            paired_with=builds[0],
            labels=marks,
        )

    return BuildComparison(
        part=part.name,
        configuration=uses[0].configuration,
        builds=builds,
        ratio=measure("1", "call", ratio),
        difference=measure("ns", kind.unit, difference),
        verdict=judged.verdict,
        text=f"{where}{uses[0].agent} {uses[0].configuration}: {_sentence(judged, builds, marks, band)}.",
        agent=uses[0].agent,
        margin=judged.margin,
    )


def _with_cpu(comparison: BuildComparison, used: tuple[Floats, Floats]) -> BuildComparison:
    """The comparison with the CPU of both builds, in the blocks where both were sampled."""
    first, second = used
    usable = (first > 0) & (second > 0)  # NaN where a trial was not sampled
    if not usable.any():
        return comparison
    log_ratio = compare_paired(second[usable], first[usable], "log-ratio")
    labels = ("indicative",) if log_ratio.n < INDICATIVE_BELOW else ()
    ratio = replace(make_measure("cpu", "1", "call", as_ratio(log_ratio), labels), paired_with=comparison.builds[0])
    told = f"CPU of all threads: {_more(log_ratio)}"
    told += f" ({_signed(log_ratio.ci95)})" if log_ratio.ci95 else ""
    return replace(comparison, cpu=ratio, text=f"{comparison.text.removesuffix('.')}; {told}.")


def _more(log_ratio: Estimate) -> str:
    """The mean of a log ratio as a signed percentage, to the digits of its interval; as a factor where it is large."""
    if abs(log_ratio.mean) > math.log1p(MANY) or log_ratio.ci95 is None:
        return f"× {two_digits(math.exp(log_ratio.mean))}"
    low, high = (math.expm1(limit) for limit in log_ratio.ci95)
    share = math.expm1(log_ratio.mean)
    return f"{'−' if share < 0 else '+'}{_percent(abs(share), (high - low) / 2)}"


def _sentence(judged: Judgement, builds: tuple[str, str], labels: tuple[str, ...], band: float | None) -> str:
    old, new = builds
    blocks = plural(judged.log_ratio.n, "block")
    counted = blocks + (": indicative" if "indicative" in labels else "")
    ci95, ci90 = judged.log_ratio.ci95, judged.ci90
    if ci95 is None or ci90 is None:
        return f"undecided whether {new} differs from {old}: one block has no interval"
    mean = math.expm1(judged.log_ratio.mean)
    if judged.verdict == "slower" and mean > MANY:
        ratio = two_digits(math.exp(judged.log_ratio.mean))
        text = f"{new} takes {ratio} times as long as {old} ({_times(ci95)}, {counted})"
    elif judged.verdict in ("slower", "faster"):
        low, high = sorted(abs(math.expm1(limit)) for limit in ci95)
        like = (high - low) / 2
        text = f"{new} is {_percent(abs(mean), like)} {judged.verdict} than {old} "
        text += f"({_percent(low, like)} to {_percent(high, like)}, {counted})"
        if band is not None and "within-aa-band" in labels:
            text += f"; that is inside the A/A band of ± {_percent(band)}, by which this machine's baselines differ"
    elif judged.verdict == "same":
        text = f"{new} and {old} are the same within {_percent(judged.margin)} ({_signed(ci90)}, {counted})"
    else:
        needed = projected_blocks(judged.log_ratio.sd or 0.0, judged.margin / 2)
        text = f"undecided whether {new} differs from {old} ({_signed(ci95)}, {counted}); "
        text += (
            f"{_percent(judged.margin)} is not decidable on this machine as it is, for its blocks vary too much"
            if needed > UNDECIDABLE_FROM
            else f"an estimated {_blocks(needed)} would tell {_percent(judged.margin)} apart, varying as these do"
        )
    if "two-regimes" in labels:
        text += "; some of its processes ran in another regime than the rest, so read the interval with care"
    return text


def _blocks(number: int) -> str:
    return f"{number if number < EXACT_BELOW else two_digits(number)} blocks"


def _percent(share: float, like: float | None = None) -> str:
    return f"{two_digits(100 * share, None if like is None else 100 * like)} %"


def _times(limits: tuple[float, float]) -> str:
    return f"{two_digits(math.exp(limits[0]))} to {two_digits(math.exp(limits[1]))} times"


def _signed(limits: tuple[float, float]) -> str:
    if max(abs(limit) for limit in limits) > math.log1p(MANY):
        return _times(limits)
    low, high = (math.expm1(limit) for limit in limits)
    like = (high - low) / 2

    def signed(share: float) -> str:
        return f"{'−' if share < 0 else '+'}{_percent(abs(share), like)}"

    return f"{signed(low)} to {signed(high)}"
