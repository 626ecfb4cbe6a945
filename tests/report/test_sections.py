import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.analysis.growth import families
from tracetax.analysis.measures import Unit
from tracetax.report.numbers import duration
from tracetax.report.page.axis import NARROW, linear, logarithmic
from tracetax.report.page.consists import PARTS, Split, consists
from tracetax.report.page.delivery import shares
from tracetax.report.page.layers import chains
from tracetax.report.page.percentiles import duration_of
from tracetax.report.views import views
from tracetax.results.findings import ConfigurationFinding, Findings, Measure, MeasureName, find_measure
from tracetax.results.folder import RunFolder

from .fake_run import fake_run
from .reading import rows, section, text, written
from .sample_findings import Sample, finding, many_samples, sample_findings
from .variants import with_building, with_builds, with_lines, with_printed_lines, with_published


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    fake_run(folder, blocks=2)
    return folder


@pytest.fixture(scope="module")
def page(run: Path) -> ET.Element:
    return written(run, with_published(sample_findings()))


def without(findings: Findings, *names: str) -> Findings:
    """The findings of a run in which some measures were not taken."""
    changed = (
        replace(row, measures=tuple(of for of in row.measures if of.name not in names), published=())
        for row in findings.configurations
    )
    return replace(findings, configurations=tuple(changed))


def split_of(row: ConfigurationFinding) -> Split:
    total = find_measure(row, "cpu", "invocation")
    assert total
    parts = {key: find_measure(row, name, "invocation") for key, (name, _) in PARTS.items()}
    return Split(row, total, {key: of for key, of in parts.items() if of})


def test_the_parts_of_the_cost_add_up_to_the_sum_with_what_nothing_is_named_for() -> None:
    for row in sample_findings().configurations:
        if row.agent != "none" and row.measures:
            split = split_of(row)
            assert sum(split.lengths.values()) == pytest.approx(split.total.estimate)


def test_a_part_of_which_the_baseline_used_more_lies_left_of_zero_and_keeps_its_minus(page: ET.Element) -> None:
    row = next(row for row in section(page, "consists").iter("tr") if "queue as large" in text(row))
    zero = row.find(".//line[@class='zero']")
    jit = row.find(".//rect[@class='part jit']")
    assert zero is not None
    assert jit is not None
    left, width = (float((jit.get(name) or "").rstrip("%")) for name in ("x", "width"))
    assert left + width == pytest.approx(float((zero.get("x1") or "").rstrip("%")), abs=0.02)
    assert "−6 ± 11" in text(row)


def test_every_segment_but_one_has_a_pattern_so_that_none_hangs_on_colour(page: ET.Element) -> None:
    patterns = {pattern.get("id") for pattern in page.iter("pattern")}
    fills = [rect.get("fill") for key in ("consists", "delivery") for rect in section(page, key).iter("rect")]
    used = {fill for fill in fills if fill}
    assert used
    assert {fill[5:-1] for fill in used} <= patterns


def test_what_drops_is_compared_per_invocation_with_what_it_cost_per_delivered_record_beside_it(
    page: ET.Element,
) -> None:
    found = next(row for row in rows(section(page, "consists")) if "of its records arrived" in row)
    assert "2.0 % of its records arrived" in found
    assert found.split("arrived ")[1].startswith("391.7 ± 4.8")
    assert found.endswith("19,290 ± 240")


def test_a_run_without_cpu_has_a_ranking_by_overhead_and_no_section_about_cpu(run: Path) -> None:
    bare = without(sample_findings(), "cpu", "cpu_caller", "cpu_agent", "cpu_jit", "cpu_gc")
    assert consists(views(bare)) is None
    page = written(run, bare)
    assert page.find(".//section[@aria-labelledby='consists']") is None
    assert "1 Kieker binary TCP 2.0.2 · stock 147.2 ± 2.1 × 24.0" in text(section(page, "ranking"))


def test_what_is_ranked_by_comes_first_in_the_forest_plot(run: Path, page: ET.Element) -> None:
    def panels(page: ET.Element) -> list[str]:
        head = section(page, "ranking").find(".//thead")
        assert head is not None
        return [text(cell) for cell in head.iter("th") if (cell.get("class") or "").startswith("plot")]

    by_overhead, by_cpu = panels(page), panels(written(run, sample_findings()))
    assert by_overhead == ["Overhead per invocation, ns · ranked by this", "CPU of all threads per record, ns"]
    assert by_cpu == ["CPU of all threads per record, ns · ranked by this", "Overhead per invocation, ns"]


def test_a_row_far_beyond_what_delivers_everything_is_an_arrow_and_does_not_squeeze_the_others(run: Path) -> None:
    ranking = section(written(run, sample_findings()), "ranking")
    row = next(row for row in ranking.iter("tr") if "19,290" in text(row))
    assert row.find(".//svg/svg[@x='100%']") is not None
    assert "19,290" not in [text(label) for label in ranking.iter("text")]
    delivers = next(row for row in ranking.iter("tr") if "926 ± 11" in text(row))
    mark = delivers.find(".//circle")
    assert mark is not None
    assert 50 < float((mark.get("cx") or "").rstrip("%")) < 100


def test_memory_start_up_bytes_and_draining_stand_in_units_that_fit_the_baseline_first(page: ET.Element) -> None:
    found = rows(section(page, "footprint"))
    assert found[0] == "No agent baseline, heap 1 GiB 2.96 MiB 91.6 MiB 0 B 41.0 ± 6.0 ms 63.0 ± 8.0 ms – – –"
    assert "Kieker binary TCP 23.0 MiB 204 MiB 1.69 KiB 681.0 ± 6.0 ms 853.0 ± 8.0 ms 143 B" in found[1]
    assert any("9.40 ± 0.30 s" in row and "deferred" in row for row in found)


def test_used_heap_and_collections_stand_with_memory(tmp_path: Path) -> None:
    findings = sample_findings()
    row = next(row for row in findings.configurations if row.configuration == "otlp-lossless")
    model = row.measures[0]
    values: dict[MeasureName, tuple[Unit, float, float]] = {
        "heap_used_cv": ("1", 0.5039, 0.012),
        "collections": ("1", 8.4, 1.1),
        "collection_pause": ("ns", 71e6, 6e6),
        "collection_pause_longest": ("ns", 14e6, 2e6),
    }
    more = tuple(
        replace(model, name=name, unit=unit, per="", estimate=value, ci95=(value - width, value + width))
        for name, (unit, value, width) in values.items()
    )
    rows_ = tuple(
        replace(one, measures=(*one.measures, *more)) if one is row else one for one in findings.configurations
    )
    fake_run(tmp_path / "run", blocks=2)
    found = section(written(tmp_path / "run", replace(findings, configurations=rows_)), "footprint")
    assert "0.504 ± 0.012 8.4 ± 1.1 71.0 ± 6.0 ms 14.0 ± 2.0 ms" in " ".join(rows(found))
    assert "Used heap, variation" in text(found)


def test_a_run_without_these_measures_has_no_section_for_them(run: Path) -> None:
    names = ("heap_live", "rss_peak", "startup_main", "startup_first_call", "bytes", "drain_time", "cpu_waiting")
    page = written(run, without(sample_findings(), *names))
    for key in ("footprint", "growth", "papers"):
        assert page.find(f".//section[@aria-labelledby='{key}']") is None
        assert page.find(f".//nav/a[@href='#{key}']") is None


def test_parts_that_differ_in_one_parameter_only_show_how_cost_grows_with_it(tmp_path: Path) -> None:
    samples = many_samples(5)
    findings = sample_findings(samples=samples)
    fake_run(tmp_path / "run", blocks=2, findings=findings, samples=samples)
    found = rows(section(written(tmp_path / "run", findings), "growth"))
    assert len(found) == 5 * 2
    assert found[0].startswith("OpenTelemetry writer 0 CPU per record, ns 270.7 ± 4.8 324.8 ± 5.8 379.0 ± 6.7")
    assert found[1] == "overhead per invocation, ns 200.0 ± 4.0 240.0 ± 4.8 280.0 ± 5.6"


def test_over_the_monitored_methods_of_the_start_grows_what_is_paid_once(tmp_path: Path) -> None:
    samples = many_samples(5)
    findings = with_building(sample_findings(samples=samples))
    fake_run(tmp_path / "run", blocks=2, findings=findings, samples=samples)
    page = written(tmp_path / "run", findings)
    found = rows(section(page, "growth"))
    assert len(found) == 5 * 2
    assert found[0] == "OpenTelemetry writer 0 added to the build 0 ± 30 ms 400 ± 30 ms 800 ± 30 ms"
    assert found[1].startswith("added to the build's CPU")
    assert "1.20 ± 0.03 s" in rows(section(page, "footprint"))[0]


def test_over_depth_stands_what_each_further_invocation_costs_and_what_is_fixed(tmp_path: Path) -> None:
    samples = many_samples(2)
    findings = with_lines(sample_findings(samples=samples))
    fake_run(tmp_path / "run", blocks=2, findings=findings, samples=samples)
    growth = section(written(tmp_path / "run", findings), "growth")
    assert rows(growth)[-2:] == [
        "Kieker writer 1 200.0 ± 8.0 ns 1.23 ± 0.03 µs 0.9999",
        "OpenTelemetry writer 0 bent, records missing 300.0 ± 8.0 ns 1.23 ± 0.03 µs 0.9999",
    ]
    (caption,) = (text(one) for one in growth.iter("caption") if "line" in text(one))
    assert caption == "A line through: overhead of a call, over invocations per call, 10 to 30"
    assert "each further invocation" in text(growth)


def test_below_a_line_stands_the_one_that_was_printed_and_where_the_agent_cut_calls(tmp_path: Path) -> None:
    samples = many_samples(2)
    findings = with_printed_lines(sample_findings(samples=samples))
    fake_run(tmp_path / "run", blocks=2, findings=findings, samples=samples)
    growth = section(written(tmp_path / "run", findings), "growth")
    assert rows(growth)[-3:] == [
        "Kieker writer 1 200.0 ± 8.0 ns 1.23 ± 0.03 µs 0.9999",
        "as printed, a machine Table 3, Fake: default 133.9 ns 13.06 µs 0.9985",
        "OpenTelemetry writer 0 bent, records missing, calls cut by the agent at 20 and 30 "
        "300.0 ± 8.0 ns 1.23 ± 0.03 µs 0.9999",
    ]


def test_a_part_at_full_speed_is_no_point_of_a_line() -> None:
    assert families([view.part for view in views(sample_findings())]) == []


def test_a_point_at_which_records_were_missing_is_hollow(tmp_path: Path) -> None:
    samples = many_samples(5)
    findings = sample_findings(samples=samples)
    fake_run(tmp_path / "run", blocks=2, findings=findings, samples=samples)
    plots = section(written(tmp_path / "run", findings), "growth").findall(".//td[@class='plot']/svg")
    missing = [[dot.get("class") for dot in plot.iter("circle")] for plot in plots]
    assert missing[0] == ["mark", "mark", "mark"]
    assert missing[-1] == ["mark", "mark", "mark missing"]


def test_each_layer_is_what_a_configuration_adds_to_the_one_with_fewer(page: ET.Element) -> None:
    found = rows(section(page, "layers"))
    start = max(number for number, row in enumerate(found) if row.startswith("Kieker binary TCP"))
    assert found[start + 1 : start + 4] == [
        "instrumentation (I) deactivated 0.6 ± 0.5 0.6 ± 0.6 0.6 ± 0.5",
        "collecting (C) no collection 81.8 ± 1.3 85.9 ± 1.6 82.4 ± 1.2",
        "writing (W) binary TCP 64.8 ± 2.5 112.7 ± 2.9 147.2 ± 2.1",
    ]


def test_what_drops_is_marked_where_its_layers_are_shown(page: ET.Element) -> None:
    assert "OpenTelemetry OTLP, as shipped 2.0 % of its records arrived" in rows(section(page, "layers"))


def test_layers_are_never_taken_from_another_agent_nor_from_a_step_that_two_could_stand_for() -> None:
    view = views(sample_findings())[1]
    for chain in chains(view):
        assert len({step.row.agent for step in chain}) == 1
        assert all(set(a.row.layers) < set(b.row.layers) for a, b in pairwise(chain))
    twin = finding(Sample("full-speed", "kieker", "probe", "another probe", 1.0, 0.5))
    findings = sample_findings()
    doubled = views(replace(findings, configurations=(*findings.configurations, twin)))[1]
    kieker = next(chain for chain in chains(doubled) if chain[-1].row.configuration == "binary-tcp")
    assert [step.row.configuration for step in kieker] == ["no-collection", "binary-tcp"]


def test_layers_are_never_taken_from_another_technology() -> None:
    findings = sample_findings()
    woven = [
        replace(row, configuration=f"{row.configuration}:woven", technology="woven")
        for row in findings.configurations
        if row.agent == "kieker"
    ]
    view = views(replace(findings, configurations=(*findings.configurations, *woven)))[1]
    found = [chain for chain in chains(view) if chain[-1].row.configuration.startswith("binary-tcp")]
    assert [[step.row.configuration for step in chain] for chain in found] == [
        ["deactivated", "no-collection", "binary-tcp"],
        ["deactivated:woven", "no-collection:woven", "binary-tcp:woven"],
    ]


def test_the_papers_stand_beside_us_with_ratios_to_the_baseline_of_each_column(page: ET.Element) -> None:
    found = next(row for row in rows(section(page, "papers")) if row.startswith("Kieker binary TCP"))
    assert found == (
        "Kieker binary TCP Table 2, binary TCP 1,536 ± 21 × 24.0 1,537.0 ± 1.6 × 23.7 "
        "1,229.0 ± 3.2 × 24.0 3,226.0 ± 3.2 × 24.0"
    )


def test_two_builds_of_a_configuration_are_rows_of_their_own(run: Path) -> None:
    page = written(run, with_builds(sample_findings()))
    ranking = text(section(page, "ranking"))
    assert "binary TCP [old.jar]" in ranking
    assert "binary TCP [new.jar]" in ranking
    assert "new.jar is 3.1 % slower than old.jar" in text(page.find(".//header"))


def test_the_ratio_of_two_builds_is_drawn_with_the_band_that_counts_as_the_same(run: Path) -> None:
    drawn = section(written(run, with_builds(sample_findings())), "builds")
    time, cpu, _axis = list(drawn.iter("tr"))[1:]
    assert "3.10 ± 0.70" in text(time)
    assert text(time).endswith("slower")
    assert "5.0 ± 1.0" in text(cpu)
    (band,) = [rect for rect in time.iter("rect") if rect.get("class") == "band"]
    (bar,) = [rect for rect in time.iter("rect") if rect.get("class") == "interval"]
    ends = [float((rect.get("x") or "").rstrip("%")) for rect in (band, bar)]
    right_of_band = ends[0] + float((band.get("width") or "").rstrip("%"))
    assert ends[1] > right_of_band, "2.4 % to 3.8 % lies right of ± 2 %"


def test_without_builds_there_is_no_such_section(page: ET.Element) -> None:
    assert page.find(".//section[@aria-labelledby='builds']") is None


def test_every_row_leads_to_its_trials_and_every_trial_is_behind_exactly_one(run: Path, page: ET.Element) -> None:
    behind = section(page, "rows")
    targets = {row.get("id"): row for row in behind.iter("tr") if row.get("id")}
    for link in section(page, "ranking").findall(".//tr/th/a"):
        assert (link.get("href") or "")[1:] in targets
    listed = [int(text(link)) for row in targets.values() for link in row.iter("a")]
    assert sorted(set(listed)) == [record.number for record in RunFolder(run).records()]


def test_a_trial_that_does_not_count_is_struck_out(page: ET.Element) -> None:
    row = next(row for row in section(page, "rows").iter("tr") if "OTLP over gRPC" in text(row))
    timed, memory = 2, 1
    assert len(row.findall(".//s/a")) == timed + memory


def test_the_filter_of_a_row_picks_its_values_from_the_measures(run: Path, page: ET.Element) -> None:
    folder = RunFolder(run)
    folder.consolidate()
    polars = pytest.importorskip("polars")
    row = next(
        row for row in section(page, "rows").iter("tr") if row.get("id") == "rows-full-speed-kieker-binary-tcp-1024"
    )
    condition = text(row.find(".//code"))
    trials = polars.read_parquet(run / "measures.parquet").sql(f"SELECT DISTINCT trial FROM self WHERE {condition}")
    assert set(trials["trial"]) == {int(text(link)) for link in row.iter("a")}


def test_an_axis_holds_zero_and_every_value() -> None:
    axis = linear([-3.0, 12.0])
    assert axis.low < -3.0 < 0 < 12.0 < axis.high
    assert re.fullmatch(r"\d+\.\d\d%", axis.at(0.0))


def test_a_row_of_the_ranking_names_its_version_its_profile_and_a_heap_of_its_own(run: Path) -> None:
    ranking = text(section(written(run, sample_findings()), "ranking"))
    assert "binary TCP 2.0.2 · stock 199.2" in ranking
    assert "queue as large as the run deferred not settled 2.33.1 · lossless · heap 6 GiB" in ranking


def test_beside_the_cpu_per_delivered_record_of_what_drops_stands_that_per_invocation(run: Path) -> None:
    ranking = text(section(written(run, sample_findings()), "ranking"))
    assert "19,290 ± 240 391.7 per invocation" in ranking
    assert "926 ± 11 301.5 ± 8.8" in ranking


def test_baselines_that_differ_in_their_heap_only_are_told_apart_by_their_trials(page: ET.Element) -> None:
    found = [row for row in rows(section(page, "rows")) if row.startswith("No agent")]
    assert len(found) == 3
    assert ["trial IN" in row for row in found] == [False, True, True]


def test_an_axis_has_fewer_ticks_where_its_plot_is_narrow() -> None:
    assert linear([0.0, 8_400.0], NARROW).ticks == (0.0, 5_000.0)
    assert len(linear([0.0, 8_400.0]).ticks) == 5


def test_a_logarithmic_axis_has_fewer_ticks_where_their_labels_would_run_into_one_another() -> None:
    values = [12.0, 40e6]
    for letters in (16, 24, 32, 100):
        ticks = logarithmic(values, letters).ticks
        assert len(ticks) >= 2
        assert sum(len(duration(tick, 1)) + 2 for tick in ticks) <= letters
    assert len(logarithmic(values, 100).ticks) == 7


def test_what_the_kernel_lost_stands_apart_from_what_nobody_accounts_for() -> None:
    row = next(row for row in sample_findings().configurations if row.records.expected)
    lost = replace(row.records, expected=1_000, received=700, dropped_reported=0, lost_in_kernel=200)
    found = dict(shares(replace(row, records=lost, verdicts=())))
    assert found == pytest.approx({"received": 0.7, "dropped": 0.0, "kernel": 0.2, "silent": 0.1})


def test_an_interval_that_is_no_half_width_is_shown_by_its_ends() -> None:
    wide = Measure("service_time_p99_9", "ns", "call", 3.0e6, 6.4e6, (0.217e6, 41.8e6), 5)
    assert "3.0" in str(duration_of(wide))
    assert "(0.22\u00a0–\u00a042)" in str(duration_of(wide))
    assert "±" not in str(duration_of(wide))
    narrow = Measure("service_time_p99_9", "ns", "call", 3.0e6, 0.2e6, (2.8e6, 3.2e6), 5)
    assert "±" in str(duration_of(narrow))
