"""What a paper printed beside what was measured here: one table per part, the same for every report."""

from msgspec import Struct

from tracetax.report.views import PartView, errors, half_width, measure, title_of
from tracetax.results.findings import ConfigurationFinding, Measure


class TimePerCall(Struct, frozen=True):
    """A time per call in ns, with what stands behind ± : a half-width or a standard deviation."""

    estimate: float
    spread: float | None
    times_baseline: float | None
    """Its ratio to the baseline in the same column: what machines of different speed can be compared by."""
    source: str = ""


class ReproducedRow(Struct, frozen=True):
    """One configuration across the columns; None where a column has nothing for it."""

    row: ConfigurationFinding
    ours: TimePerCall | None
    estimator: TimePerCall | None
    platforms: tuple[TimePerCall | None, ...]

    @property
    def title(self) -> str:
        """As the report calls it."""
        return "baseline" if self.row.is_baseline else title_of(self.row)


class PublishedView(Struct, frozen=True):
    """A part's rows that a paper printed too."""

    platforms: tuple[str, ...]
    lines: tuple[ReproducedRow, ...]


def published_view(view: PartView) -> PublishedView | None:
    """The rows of a part that have published values; None where there is none."""
    rows = [row for row in (*view.baselines[:1], *view.rows) if row.published and not errors(row)]
    if not rows:
        return None
    platforms = tuple(dict.fromkeys(value.platform for row in rows for value in row.published))
    baseline = next((row for row in rows if row.is_baseline), None)
    return PublishedView(platforms, tuple(_line(row, platforms, baseline) for row in rows))


def _line(
    row: ConfigurationFinding, platforms: tuple[str, ...], baseline: ConfigurationFinding | None
) -> ReproducedRow:
    ours, second_half = measure(row, "service_time"), measure(row, "service_time_second_half")
    base = measure(baseline, "service_time") if baseline else None
    base_second = measure(baseline, "service_time_second_half") if baseline else None
    return ReproducedRow(
        row=row,
        ours=ours and TimePerCall(ours.estimate, half_width(ours), _ratio(ours, base)),
        estimator=second_half and TimePerCall(second_half.estimate, second_half.sd, _ratio(second_half, base_second)),
        platforms=tuple(_printed(row, platform, baseline) for platform in platforms),
    )


def _ratio(of: Measure, base: Measure | None) -> float | None:
    return of.estimate / base.estimate if base and base.estimate else None


def _printed(row: ConfigurationFinding, platform: str, baseline: ConfigurationFinding | None) -> TimePerCall | None:
    def on(finding: ConfigurationFinding | None) -> float | None:
        return next((v.estimate for v in finding.published if v.platform == platform), None) if finding else None

    value = next((value for value in row.published if value.platform == platform), None)
    if value is None:
        return None
    base = on(baseline)
    return TimePerCall(value.estimate, value.sd, value.estimate / base if base else None, value.source)
