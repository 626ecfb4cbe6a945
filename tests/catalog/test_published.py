"""``[published]``: the printed rows of a table stand beside configurations, or it is said why not."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import load_catalog
from tracetax.model import BASELINE, PublishedLine, PublishedRow, Use

Change = Callable[[Path, str, str], None]
ROOT = Path(__file__).parents[2]
TABLE = """table,platform,agent,configuration,statistic,unit,value,spread,spread_kind
Table 2,x86,none,No instrumentation,mean,ns,64.43,0.11,standard_deviation
Table 2,ARM,none,No instrumentation,mean,ns,121.09,3.20,standard_deviation
Table 2,x86,The Tracer,Regular,mean,us,4.28,0.08,standard_deviation
Table 2,x86,The Tracer,Regular,median,us,4.1,,
Table 2,ARM,The Tracer,Regular,mean,us,14.3,1.3,ci95_half_width
Table 2,x86,Other,Off,mean,1,0.5,,
"""
SECTION = """
[published]
table = "t2.csv"
where = { statistic = "mean" }
agents = { tracer = "The Tracer" }
"""


@pytest.fixture
def published(repository: Repository, change: Change) -> Repository:
    """The small repository, with a table and the names of rows in both agents' files."""
    repository.write("published/t2.csv", TABLE)
    change(repository.tracer, 'title = "as shipped"', 'title = "as shipped"\npublished = { trial = "Regular" }')
    none = repository.root / "agents" / "none" / "java" / "agent.toml"
    change(
        none,
        'title = "no instrumentation"',
        'title = "no instrumentation"\npublished = { trial = "No instrumentation" }',
    )
    repository.experiment.write_text(repository.experiment.read_text() + SECTION)
    return repository


def test_rows_are_found_by_the_agents_files_in_ns_and_with_their_source(published: Repository) -> None:
    _, experiment = load_catalog("trial", published.root)
    stock = Use("tracer", "stock")
    assert experiment.published == (
        PublishedRow(BASELINE, "x86", 64.43, 0.11, "Table 2, none: No instrumentation"),
        PublishedRow(BASELINE, "ARM", 121.09, 3.2, "Table 2, none: No instrumentation"),
        PublishedRow(stock, "x86", 4_280.0, 80.0, "Table 2, The Tracer: Regular"),
        PublishedRow(stock, "ARM", 14_300.0, None, "Table 2, The Tracer: Regular"),
    )


def test_of_a_row_that_two_tables_print_the_first_counts(published: Repository, change: Change) -> None:
    later = TABLE.replace("Table 2", "Table 3").replace("64.43", "70").replace("Regular", "Regular woven")
    published.write("published/t3.csv", later)
    change(published.experiment, '"t2.csv"', '["t2.csv", "t3.csv"]')
    _, experiment = load_catalog("trial", published.root)
    assert [row.estimate for row in experiment.published] == [64.43, 121.09, 4_280.0, 14_300.0]


def test_a_configuration_that_names_no_row_has_none(published: Repository) -> None:
    _, experiment = load_catalog("trial", published.root)
    assert Use("tracer", "off") not in {row.use for row in experiment.published}


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('"t2.csv"', '"t3.csv"', "published.table", 'no table in published/. Did you mean "t2.csv"?'),
        ("statistic =", "statistik =", "published.where.statistik", 'Did you mean "statistic"?'),
        ('"mean"', '"average"', "published.where.statistic", 'but "mean", "median"'),
        ('"The Tracer"', '"Tracer"', "published.agents.tracer", 'It has "none", "The Tracer", "Other"'),
        ("{ tracer =", "{ tracre =", "published.agents.tracre", 'Did you mean "tracer"?'),
        ('agents = { tracer = "The Tracer" }', "", "published.agents.tracer", 'no agent "Tracer". It has'),
        ("where =", "# where =", "published.where", 'leaves 2 values of The Tracer "Regular" on x86'),
    ],
)
def test_every_mistake_is_said_with_its_key(
    published: Repository, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(published.experiment, old, new)
    found = published.problems()
    assert list(found) == [key]
    assert text in found[key]


def test_a_row_that_the_table_does_not_have_is_said_with_the_agents_file_and_the_known_names(
    published: Repository, change: Change
) -> None:
    change(published.tracer, '"Regular"', '"Regulra"')
    (problem,) = published.problems().items()
    assert problem[0] == "agents/tracer/java/agent.toml, configurations.stock.published.trial"
    assert '"Regulra" is no row of The Tracer in published/t2.csv. Did you mean "Regular"?' in problem[1]
    assert 'It has "Regular"' in problem[1]


def test_a_section_that_nothing_refers_to_is_a_mistake(published: Repository) -> None:
    text = published.experiment.read_text()
    published.write("experiments/copy.toml", text)
    assert 'published = { copy = "…" }' in published.problems("copy")["published"]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("64.43", "64.4e", "could not convert"),
        ("64.43", "64,43", "row 1 has more or fewer fields than columns"),
        ("configuration,", "config,", 'no column "configuration"'),
    ],
)
def test_a_table_that_cannot_be_used_is_said(
    published: Repository, change: Change, old: str, new: str, text: str
) -> None:
    change(published.root / "published" / "t2.csv", old, new)
    assert text in published.problems()["published.table"]


def test_something_else_than_a_time_does_not_stand_beside_times(published: Repository, change: Change) -> None:
    change(published.tracer, '"Regular"', '"Off"')
    change(published.experiment, '"The Tracer"', '"Other"')
    assert 'in "1", and only times' in published.problems()["published.where"]


LINES = """table,platform,agent,configuration,metric,unit,value,spread,spread_kind
Table 3,x86,Tracer,Regular,regression_slope,ns/method,133.92,,
Table 3,x86,Tracer,Regular,regression_intercept,ns,197.35,,
Table 3,x86,Tracer,Regular,regression_r_squared,1,0.9985,,
Table 3,ARM,Tracer,Regular,regression_slope,ns/method,300,,
Table 3,ARM,Tracer,Regular,regression_intercept,ns,400,,
"""


@pytest.fixture
def lined(repository: Repository, change: Change) -> Repository:
    """The small repository, with a table of lines in the place of values."""
    repository.write("published/t3.csv", LINES)
    change(repository.tracer, 'title = "as shipped"', 'title = "as shipped"\npublished = { trial = "Regular" }')
    repository.experiment.write_text(repository.experiment.read_text() + '[published]\ntable = "t3.csv"\n')
    return repository


def test_a_line_is_slope_intercept_and_r_squared_where_that_is_printed(lined: Repository) -> None:
    _, experiment = load_catalog("trial", lined.root)
    assert experiment.published == ()
    stock = Use("tracer", "stock")
    assert experiment.published_lines == (
        PublishedLine(stock, "x86", 133.92, 197.35, 0.9985, "Table 3, Tracer: Regular"),
        PublishedLine(stock, "ARM", 300.0, 400.0, None, "Table 3, Tracer: Regular"),
    )


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ("x86,Tracer,Regular,regression_intercept", "x86,Tracer,Other,regression_intercept", "where", "without its"),
        ("ns/method,133.92", "ns,133.92", "where", 'leaves regression_slope in "ns" of Tracer "Regular" on x86'),
        ("regression_r_squared,1", "regression_r_squard,1", "where", "leaves regression_r_squard"),
        ("133.92", "133,92", "table", "more or fewer fields"),
        ("133.92", "133.9x", "table", "could not convert"),
    ],
)
def test_rows_that_make_no_line_are_said(
    lined: Repository, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(lined.root / "published" / "t3.csv", old, new)
    assert text in lined.problems()[f"published.{key}"]


@pytest.mark.parametrize("file", sorted((ROOT / "published").glob("*.csv")), ids=lambda file: file.stem)
def test_the_shipped_values_are_the_numbers_that_were_printed(file: Path) -> None:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, strict=True))
    assert rows
    for row in rows:
        for value, printed in ((row["value"], row["printed"]), (row["spread"], row["printed_spread"])):
            assert float(value or 0) == pytest.approx(number(printed), rel=1e-12), row


def number(printed: str) -> float:
    """What a number says as it was printed: ``± 1 176.5k`` is 1,176,500."""
    digits = re.sub(r"\s?(µs|microseconds|times)$|[,%± ]", "", printed)
    return float(digits.removesuffix("k") or 0) * (1_000 if digits.endswith("k") else 1)
