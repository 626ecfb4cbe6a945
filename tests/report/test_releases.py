"""The section on an agent's releases: lines over their days, and a table by release."""

from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from tracetax.report.page.releases import drawing, release_lines, releases, titles_of
from tracetax.report.views import overhead, views
from tracetax.results.findings import Findings, ReleaseFinding

from .fake_run import fake_run
from .reading import rows, section, text, written
from .sample_findings import ALL_LAYERS, Sample, sample_findings

OLD, NEW = ("1.8", "2013-10-10"), ("2.0.2", "2024-11-05")
SAMPLES = (
    Sample("full-speed", "none", "baseline", "no instrumentation", p99_ns=90),
    Sample("full-speed", "kieker", "new-tcp", "new, TCP", 147.2, 2.1, 3_480, "complete", "stock", ALL_LAYERS, rank=1),
    Sample(
        "full-speed", "kieker", "old-tcp", "old, TCP", 412.0, 9.0, 9_000, "lossy", None, ALL_LAYERS, completeness=0.5
    ),
    Sample("full-speed", "kieker", "old-off", "old, off", 0.7, 0.5, 110),
    Sample("full-speed", "kieker", "new-off", "new, off", 0.6, 0.5, 110),
    Sample("full-speed", "kieker", "other", "another queue", 160.0, 2.0, 110),
)
RELEASES = {
    "old-tcp": (OLD, "TCP"),
    "new-tcp": (NEW, "TCP"),
    "old-off": (OLD, "off"),
    "new-off": (NEW, "off"),
    "other": (NEW, "other queue"),
}


@pytest.fixture
def findings() -> Findings:
    found = sample_findings(samples=SAMPLES)
    told = tuple(
        replace(row, version=RELEASES[row.configuration][0][0], release=ReleaseFinding(line, day))
        if (line := RELEASES.get(row.configuration, ("", ""))[1]) and (day := RELEASES[row.configuration][0][1])
        else row
        for row in found.configurations
    )
    return replace(found, configurations=told)


def test_a_line_joins_what_can_be_compared_the_oldest_release_first(findings: Findings) -> None:
    (view,) = (view for view in views(findings) if view.rows)
    lines = release_lines(view)
    assert titles_of(lines) == ["TCP", "off"]  # a release alone is no line
    assert [[row.version for row in line.rows] for line in lines] == [["1.8", "2.0.2"]] * 2


def test_points_stand_at_their_days_and_costs_and_what_lost_records_is_hollow(findings: Findings) -> None:
    (view,) = (view for view in views(findings) if view.rows)
    markup = drawing("overhead, ns", overhead, release_lines(view))
    years = [str(year) for year in range(2014, 2025)]
    assert all(f">{year}<" in markup for year in years)
    assert (markup.count("<circle"), markup.count("mark missing")) == (4, 1)
    share = (date(2024, 11, 5) - date(2013, 10, 10)).days / 365.25
    old, new = 0.04 / 1.08, 1.04 / 1.08
    assert share == pytest.approx(11.07, abs=0.01)
    assert f'cx="{100 * old:.2f}%"' in markup
    assert f'cx="{100 * new:.2f}%"' in markup


def test_the_page_shows_a_table_by_release(tmp_path: Path, findings: Findings) -> None:
    fake_run(tmp_path / "run", blocks=2)
    told = section(written(tmp_path / "run", findings), "releases")
    assert "Over its releases" in text(told)
    first, second, *_ = rows(told)
    assert first.startswith("1.8 October 2013 412")
    assert second.startswith("2.0.2 November 2024 147")


def test_where_no_agent_has_several_releases_there_is_no_such_section() -> None:
    assert releases(views(sample_findings())) is None
