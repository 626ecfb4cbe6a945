"""What the page shows of services alone: CPU by process, response times by percentile, and both over the rate."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

from tracetax.analysis.growth import families
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.report.page.curves import curve, curves, read_times
from tracetax.report.page.growth import growth
from tracetax.report.page.processes import processes
from tracetax.report.page.ranking import ranking
from tracetax.report.views import PartView, views
from tracetax.results.findings import Findings, Measure, MeasureName
from tracetax.results.records import Role, TrialRecord
from tracetax.results.reduction import reduce_samples

from .fake_run import fake_run, trial
from .reading import text, written
from .sample_findings import SAMPLES, sample_findings

MS = 1e6
CALLS = 2_000
PARAMETERS = RequestParameters(calls=CALLS, rate=200.0, mix=(Weighted("db", 1),))
TAKEN: dict[MeasureName, float] = {"cpu_of_program": 150e3, "cpu_of_stores": 60e3, "cpu_of_load": 40e3}


def in_ns(name: MeasureName, estimate: float) -> Measure:
    return Measure(name, "ns", "call", estimate, estimate / 10, (0.9 * estimate, 1.1 * estimate), 5)


def of_service(findings: Findings, parameters: dict[str, RequestParameters], *more: Measure) -> Findings:
    """Findings whose parts are a service's, with further measures in each row."""
    parts = tuple(
        replace(part, parameters=parameters[part.name]) for part in findings.experiment.parts if part.name in parameters
    )
    told = tuple(
        replace(row, parameters=parameters[row.part], measures=(*row.measures, *more))
        for row in findings.configurations
        if row.part in parameters
    )
    return replace(findings, experiment=replace(findings.experiment, parts=parts), configurations=told)


def seen(*more: Measure, rates: tuple[float, ...] = (200.0,)) -> list[PartView]:
    findings = sample_findings()
    names = [part.name for part in findings.experiment.parts][: len(rates)]
    return views(
        of_service(
            findings, {name: replace(PARAMETERS, rate=rate) for name, rate in zip(names, rates, strict=True)}, *more
        )
    )


def test_what_a_request_costs_is_told_in_microseconds() -> None:
    markup = str(ranking(seen(in_ns("cpu", 476_000.0)), "cpu"))
    assert "CPU of all threads per request, µs · ranked by this" in markup
    assert "Ranked by CPU per request" in markup
    assert "The overhead is what is added to the mean response time." in markup
    assert "Ratio of requests" in markup
    assert ", ns" not in markup
    assert " ns per request" not in markup


def test_each_process_is_a_segment_and_all_add_up() -> None:
    markup = processes(seen(*(in_ns(name, value) for name, value in TAKEN.items())))
    assert markup
    row = markup.partition("<tbody>")[2].partition("</tr>")[0]
    assert [row.count(f'class="part {name}"') for name in ("program", "stores", "load", "receiver")] == [1, 1, 1, 0]
    assert ">250<" in row
    assert "receiver of records, µs" not in markup


def test_what_is_no_service_has_no_such_section() -> None:
    assert processes(views(sample_findings())) is None
    assert processes(seen()) is None  # of an earlier version, which knew the load's CPU of no trial


@pytest.fixture
def distributions(tmp_path: Path) -> Path:
    """Response times of two trials: 1 to 2,000 µs, and of the second twice as long in its first half."""
    times = np.arange(1, CALLS + 1) * 1_000
    second = np.concatenate([2 * times[: CALLS // 2], times[CALLS // 2 :]])
    frames = [
        reduce_samples(samples, trial=number, thread=0, kind=kind)[1]
        for number, samples in ((1, times), (2, second))
        for kind in ("response", "service")
    ]
    path = tmp_path / "distributions.parquet"
    pl.concat(frames).write_parquet(path)
    return path


def test_a_curve_is_the_mean_of_its_starts_and_ends_before_the_last_ten(distributions: Path) -> None:
    record = replace(
        trial(1, 1, SAMPLES[0], "configuration", np.ones(1_000)), parameters=PARAMETERS, response=None, number=1
    )
    assert record.steady
    steady = replace(record.steady, first_bin=0)
    times = read_times(distributions, [replace(record, steady=steady), replace(record, steady=steady, number=2)])
    row = sample_findings().configurations[0]
    one = curve(row, [times[1]])
    assert one.shares[0] == pytest.approx(0.5)
    assert one.times[0] == pytest.approx(1_000_500.0)
    assert 1 - one.shares[-1] == pytest.approx(10 / CALLS, rel=0.3)
    both = curve(row, [times[1], times[2]])
    alone = curve(row, [times[2]])
    assert both.times == pytest.approx((one.times + alone.times) / 2)
    late = read_times(distributions, [replace(record, steady=replace(steady, first_bin=500), number=2)])
    assert late[2][0].min() == pytest.approx(1_001_000)  # its slow half was not steady


def test_a_plot_has_a_line_for_each_row_and_names_it(tmp_path: Path, distributions: Path) -> None:
    view = seen()[0]
    trials: list[TrialRecord] = []
    for number, row in enumerate((*view.baselines, *view.rows)[:2], 1):
        role: Role = "baseline-1" if row.is_baseline else "configuration"
        record = trial(number, 1, SAMPLES[0], role, np.ones(1_000))
        trials.append(
            replace(record, cell=row.cell.playing(role), parameters=PARAMETERS, response=record.service, status="ok")
        )
    markup = curves([view], trials, distributions)
    assert markup
    assert markup.count("<path") == 2
    assert "p50" in markup and "p99" in markup and "p99.9" not in markup
    assert "1 ms" in markup
    assert curves([view], trials, tmp_path / "nowhere") is None
    assert curves(views(sample_findings()), trials, distributions) is None


def test_over_the_rate_the_tail_of_the_baseline_is_shown_too() -> None:
    parts = seen(in_ns("response_time_p99", 4 * MS), rates=(200.0, 400.0))
    markup = growth(parts, ())
    assert markup
    assert "over requests/s" in markup
    assert "p99 of response times" in markup
    assert "No agent" in markup


def test_requests_to_other_endpoints_are_no_family() -> None:
    findings = sample_findings()
    first, second = [part.name for part in findings.experiment.parts][:2]
    other = replace(PARAMETERS, rate=400.0, mix=(Weighted("json", 1),))
    apart = of_service(findings, {first: PARAMETERS, second: other})
    assert families([view.part for view in views(apart)]) == []
    more = replace(PARAMETERS, rate=400.0, calls=2 * CALLS, learned=())
    alike = of_service(findings, {first: PARAMETERS, second: more})
    assert [family.factor for family in families([view.part for view in views(alike)])] == ["rate"]


def test_the_page_of_a_call_tree_is_as_it_was(tmp_path: Path) -> None:
    fake_run(tmp_path / "run", blocks=2)
    page = text(written(tmp_path / "run", sample_findings()))
    assert "Where a request's CPU goes" not in page
    assert "Response times by percentile" not in page
