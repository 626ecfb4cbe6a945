import re
import shutil
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tracetax.report.page import axis as axes
from tracetax.report.page import write_page
from tracetax.report.page.series import in_columns, series
from tracetax.report.views import views
from tracetax.results.records import SteadyPart, Verdict

from .fake_run import fake_run, trial
from .reading import parsed, section, text, written
from .sample_findings import NOTHING_RECORDED, SAMPLES, sample_findings, with_row

HOSTILE = """</style><script>alert("x")</script> & 'quotes' \x00\x1b[31m"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "2026-11-20-quick-7f3a"
    fake_run(folder)
    return folder


@pytest.fixture(scope="module")
def page(run: Path) -> ET.Element:
    return parsed(write_page(run, sample_findings()))


def ranked_rows(page: ET.Element) -> list[str]:
    return [
        text(row) for row in section(page, "ranking").iter("tr") if row.get("class") in ("filled", "hollow", "diamond")
    ]


def test_every_configuration_of_every_part_appears(page: ET.Element) -> None:
    findings = sample_findings()
    ranking = text(section(page, "ranking"))
    for row in findings.configurations:
        assert row.agent == "none" or f"{row.agent_name} {row.title}" in ranking


def test_the_page_begins_with_the_verdict_then_what_a_choice_hangs_on_then_four_links(page: ET.Element) -> None:
    header = page.find(".//header")
    verdict = "At 1,000 calls/s, Kieker costs less than OpenTelemetry: CPU 0.56 against 1.2 µs"
    words = text(header)
    assert (
        words.index(verdict) < words.index("Side by side: 1,000 calls/s × 10 invocations") < words.index("Indicative")
    )
    links = [(text(link), link.get("href")) for link in page.findall(".//nav/a")]
    assert links == [
        ("Cost", "#cost"), ("Delivery", "#records"), ("Memory and start", "#memory"), ("Details", "#details"),
    ]  # fmt: skip


def test_what_is_best_in_a_line_is_marked_without_colour_alone(page: ET.Element) -> None:
    table = page.find(".//header//table")
    assert table is not None
    found = {text(row.find("th")): [text(cell) for cell in row.findall("td")] for row in table.iter("tr")}
    assert found["CPU added, of a core sets rank"] == ["✓ best: 0.558 ± 0.013 %", "1.179 ± 0.023 %"]
    assert found["Records delivered at full speed"] == ["✓ best: 100 %", "2.0 % of 3.4 million/s"]
    assert found["Records delivered at 1,000 calls/s"] == ["100 %", "100 %"]


def test_everything_below_the_links_is_folded_and_every_link_leads_inside_what_it_opens(page: ET.Element) -> None:
    main = page.find(".//main")
    assert main is not None
    assert {(chapter.tag, chapter.get("open")) for chapter in main} == {("details", None)}
    inside = {place.get("id") for chapter in main for place in chapter.findall("div")}
    assert {(link.get("href") or "")[1:] for link in page.findall(".//nav/a")} == inside
    assert all(details.find("summary") is not None for details in main.iter("details"))


def test_without_a_table_on_top_the_costs_are_unfolded(run: Path) -> None:
    findings = sample_findings()
    silent = tuple(row for row in findings.configurations if row.delivery == "none")
    page = written(run, replace(findings, configurations=silent, statements=()))
    assert page.find(".//header//table") is None
    assert next(details.get("open") for details in page.findall(".//main/details")) == "open"


def test_the_sentences_on_the_page_are_told_once(page: ET.Element) -> None:
    told = text(page.find("body"))
    for statement in sample_findings().statements:
        assert told.count(statement.text) == 1
    assert "In words" not in told


def test_a_statement_leads_to_the_rows_it_rests_on(page: ET.Element) -> None:
    links = {link.get("href"): text(link) for link in page.findall(".//section[@aria-labelledby='delivery']//small/a")}
    assert links["#rows-at-rate-kieker-binary-tcp-1024"] == "at-rate/kieker/binary-tcp"


def test_the_numbers_of_a_row_are_those_of_the_findings(page: ET.Element) -> None:
    row = next(row for row in ranked_rows(page) if "binary TCP 2.0.2 · stock 199" in row)
    assert row == "1 Kieker binary TCP 2.0.2 · stock 199.2 ± 2.6 147.2 ± 2.1 × 24.0 3.48 ± 0.28 µs 100 %"


def test_what_recorded_nothing_is_never_ranked_and_shows_its_verdict(run: Path) -> None:
    page = written(run, with_row(sample_findings(), verdicts=(NOTHING_RECORDED,), title="broken", rank=1))
    assert not any("broken" in row for row in ranked_rows(page))
    failed = [text(row) for row in page.iter("tr") if row.get("class") == "failed"]
    assert any("broken" in row and NOTHING_RECORDED.text in row for row in failed)


def test_what_drops_carries_its_rate_and_is_never_said_to_lose(page: ET.Element) -> None:
    delivery = text(section(page, "delivery"))
    assert "66,700 ± 2,000 records/s of those offered; the others it drops by design" in delivery
    assert not re.search(r"\blose", text(page))


def test_nothing_is_fetched(page: ET.Element) -> None:
    assert not [element.tag for element in page.iter() if element.tag in ("script", "link", "img", "iframe", "object")]
    assert not [value for element in page.iter() if (value := element.get("src"))]
    style = text(page.find(".//style"))
    assert "url(" not in style
    assert "@import" not in style


def test_every_link_leads_into_the_page_or_the_run_folder(run: Path, page: ET.Element) -> None:
    keys = {element.get("id") for element in page.iter()}
    at_the_end = {"measures.parquet", "distributions.parquet"}
    for link in page.iter("a"):
        target = link.get("href") or ""
        if target.startswith("#"):
            assert target[1:] in keys
        else:
            assert target in at_the_end or (run / target).is_file(), target


def test_the_page_nests_as_a_browser_reads_it(run: Path) -> None:
    class Reader(HTMLParser):
        open: list[str]

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not (tag in ("p", "ul", "table", "div") and "p" in self.open), f"<{tag}> closes a <p>"
            if tag not in ("meta", "br"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert "svg" in self.open or tag in ("meta", "br"), f"<{tag}/> is not closed in HTML"

    reader = Reader()
    reader.open = []
    reader.feed(write_page(run, sample_findings()).read_text(encoding="utf-8"))
    assert reader.open == []


def test_one_of_which_nothing_arrived_and_nobody_knows_what_is_due_has_a_row(run: Path) -> None:
    known = next(row for row in sample_findings().configurations if row.agent == "kieker")
    unknown = replace(known.records, expected=0, received=0)
    page = written(run, with_row(sample_findings(), records=unknown, delivery="lossy", title="unseen"))
    assert "no record arrived, and none was known to be due" in text(section(page, "ranking"))
    assert any("unseen" in row for row in ranked_rows(page))


def test_hostile_text_stays_text(run: Path) -> None:
    findings = sample_findings()
    row = replace(findings.configurations[1], title=HOSTILE, agent_name=HOSTILE)
    page = written(
        run,
        replace(
            findings,
            experiment=replace(findings.experiment, title=HOSTILE, paper=HOSTILE),
            machine={HOSTILE: HOSTILE},
            configurations=(*findings.configurations, row),
            verdicts=(Verdict(HOSTILE, "error", HOSTILE),),
        ),
    )
    assert page.find(".//script") is None
    assert """</style><script>alert("x")</script> & 'quotes'""" in text(page.find(".//h1"))


def test_every_table_has_a_caption_and_every_plot_a_text_or_stands_beside_its_numbers(page: ET.Element) -> None:
    for table in page.iter("table"):
        assert text(table.find("caption"))
    for plot in page.iter("svg"):
        nested = plot.get("x") is not None
        assert nested or plot.get("aria-hidden") == "true" or plot.get("aria-label")


def test_every_trial_has_a_panel_and_a_failed_one_says_so_instead(page: ET.Element) -> None:
    panels = [text(item) for item in section(page, "series").iter("li")]
    assert len(panels) == 5 * 17
    assert sum("nothing-recorded" in panel for panel in panels) == 5


def panel(steady: SteadyPart | None) -> ET.Element:
    """The first panel of the first trial with this steady part."""
    findings = sample_findings()
    view = views(findings)[0]
    row = view.rows[0]
    means = np.full(1_000, 5_000.0)
    record = replace(
        trial(1, 1, next(s for s in SAMPLES if s.title == row.title), "configuration", means), steady=steady
    )
    section = series([view], [record], {1: [in_columns(means, np.full(1_000, 7, np.uint32), 250)]})
    found = ET.fromstring(section).find(".//li/svg")
    assert found is not None
    return found


def greyed(panel: ET.Element) -> float:
    """The share of a panel that is on grey."""
    grey = panel.find("rect[@class='unsteady']")
    width = float((panel.get("viewBox") or "").split()[2])
    return 0.0 if grey is None else float(grey.get("width") or 0) / width


@pytest.mark.parametrize("first_bin", [0, 80, 500, 740])
def test_what_lies_before_the_steady_part_is_on_grey(first_bin: int) -> None:
    kind = "warm-up" if first_bin else "flat"
    assert greyed(panel(SteadyPart(kind, first_bin, 1_000 - first_bin, ()))) == pytest.approx(first_bin / 1_000)


def test_a_trial_without_a_steady_state_is_all_on_grey_and_says_what_its_value_is() -> None:
    drawn = panel(SteadyPart("no-steady-state", 500, 500, (900,)))
    assert greyed(drawn) == 1.0
    described = drawn.get("aria-label") or ""
    assert "no steady state; its value is the mean of its last half" in described
    assert "steady part" not in described


def test_a_trial_that_was_not_judged_has_nothing_on_grey() -> None:
    assert greyed(panel(None)) == 0.0


def test_processes_without_a_steady_state_are_labelled_and_told_beside_their_row(run: Path) -> None:
    findings = sample_findings()
    baseline = findings.configurations[0]
    times = tuple(replace(one, labels=("no-steady-state",)) for one in baseline.measures)
    verdict = Verdict("no-steady-state", "note", "2 of 5 trials never became steady")
    row = next(row for row in findings.configurations if row.part == "full-speed" and row.agent == "kieker")
    page = written(
        run,
        with_row(
            replace(findings, configurations=(replace(baseline, measures=times), *findings.configurations[1:])),
            verdicts=(verdict,),
            measures=tuple(replace(one, labels=("no-steady-state",)) for one in row.measures),
            title="restless",
        ),
    )
    assert any("Kieker restless no steady state" in row for row in ranked_rows(page))
    ranking = text(section(page, "ranking"))
    assert "142.0 ± 6.0 ns no steady state" in ranking
    assert "Some processes did not become steady within the trial; the mean of their last half was taken." in ranking
    (row,) = (row for row in section(page, "ranking").iter("tr") if "restless" in text(row))
    remarks = row.find(".//details[@class='remarks']")
    assert text(remarks) == "1 note no-steady-state 2 of 5 trials never became steady"
    assert "restless" not in text(section(page, "verdicts"))


@pytest.mark.parametrize(("tick", "anchor"), [(10.0, "start"), (100.0, "middle"), (1_000.0, "end")])
def test_durations_at_the_edges_of_a_plot_are_not_cut_off(tick: float, anchor: str) -> None:
    labels = list(ET.fromstring(axes.tick_labels(axes.logarithmic([10.0, 1_000.0]), as_duration=True)))
    assert labels[[10.0, 100.0, 1_000.0].index(tick)].get("text-anchor") == anchor


def test_every_bin_of_a_trial_is_within_the_shade() -> None:
    means = np.random.default_rng(1).normal(100, 5, 1_000)
    line = in_columns(means, np.full(1_000, 7, np.uint32), 250)
    assert len(line.mean) == 250
    assert line.extent is not None
    low, high = line.extent
    assert (low.min(), high.max()) == (means.min(), means.max())
    assert np.average(line.mean) == pytest.approx(means.mean())


def test_a_run_without_any_series_has_a_page(run: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(run, bare)
    (bare / "series.parquet").unlink()
    panels = [text(item) for item in section(written(bare, sample_findings()), "series").iter("li")]
    assert sum("no series kept" in panel for panel in panels) == 5 * 16


def test_a_run_in_which_everything_failed_has_a_page(run: Path) -> None:
    findings = sample_findings()
    rows = tuple(replace(row, measures=(), verdicts=(NOTHING_RECORDED,), rank=None) for row in findings.configurations)
    page = written(run, replace(findings, configurations=rows, aa=(), statements=()))
    assert ranked_rows(page) == []
    assert "No statement follows from this run." in text(page)


def test_a_single_block_has_numbers_without_intervals(run: Path) -> None:
    findings = sample_findings(blocks=1)
    rows = tuple(
        replace(row, measures=tuple(replace(measure, ci95=None, sd=None) for measure in row.measures))
        for row in findings.configurations
    )
    page = written(run, replace(findings, configurations=rows))
    assert any("Kieker binary TCP 2.0.2 · stock 199 147 " in row for row in ranked_rows(page))


def test_an_experiment_that_is_no_result_says_so_before_its_numbers(run: Path) -> None:
    page = text(written(run, sample_findings(result=False)).find("body"))
    assert page.index("No result: a check that everything works") < page.index("Further left is cheaper")
    assert "--blocks" not in page


def test_an_indicative_run_names_the_line_that_makes_it_ten_blocks(page: ET.Element) -> None:
    assert re.search(
        r"Indicative: 5 of the 10 blocks .* \./tracetax run --resume \S+ --blocks 10", text(page.find(".//header"))
    )


def test_the_exact_command_of_every_configuration_is_given(page: ET.Element) -> None:
    commands = [text(item) for item in section(page, "commands").findall("details/details")]
    assert len(commands) == len(sample_findings().configurations)
    assert all("tracetax.calltree.Main --calls" in command and "TZ=UTC" in command for command in commands)
