from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from tracetax.report.views import (
    LABEL_MEANINGS,
    LABELS,
    STOPPED,
    Group,
    apart,
    caveat,
    group_of_row,
    group_title,
    loss,
    next_line,
    views,
)
from tracetax.results.findings import ConfigurationFinding, PartFinding

from .sample_findings import NOTHING_RECORDED, sample_findings, with_row


def lossy(received: int) -> ConfigurationFinding:
    findings = sample_findings()
    row = next(row for row in findings.configurations if row.part == "full-speed" and row.configuration == "binary-tcp")
    records = replace(row.records, received=received, blocks_incomplete=0 if received >= row.records.expected else 2)
    return replace(row, delivery="lossy", records=records)


def test_a_lossy_configuration_whose_records_all_arrived_delivers_everything() -> None:
    assert group_of_row(lossy(lossy(0).records.expected)) is Group.DELIVERS


def test_a_lossy_configuration_that_lost_one_record_drops_by_policy() -> None:
    assert group_of_row(lossy(lossy(0).records.expected - 1)) is Group.DROPS


def test_a_configuration_that_promises_all_and_lost_some_is_not_said_to_drop_by_policy() -> None:
    assert group_of_row(replace(lossy(10), delivery="complete")) is Group.LOST


def test_records_in_broken_trees_are_not_delivered() -> None:
    row = lossy(lossy(0).records.expected)
    broken = replace(row.records, complete_trees=row.records.expected_trees - 1, blocks_incomplete=1)
    assert group_of_row(replace(row, records=broken)) is Group.DROPS
    assert loss(replace(row, records=broken)).startswith("1 of 2,500,000 trees incomplete in 1 of 5 blocks")


def test_where_nobody_knows_what_is_due_it_is_told_whether_anything_came() -> None:
    row = lossy(5)
    unknown = replace(row, records=replace(row.records, expected=0))
    assert group_of_row(unknown) is Group.UNCOUNTED
    assert group_of_row(replace(unknown, records=replace(unknown.records, received=0))) is Group.EMPTY


def test_only_the_workload_as_it_is_is_the_baseline() -> None:
    findings = sample_findings()
    rows = {row.configuration: row for row in findings.configurations if row.part == "full-speed"}
    empty = replace(rows["deactivated"], agent="none", configuration="empty-agent")
    view = views(replace(findings, configurations=(rows["baseline"], empty)))[1]
    assert [row.configuration for row in view.baselines] == ["baseline"]
    assert [row.configuration for row in view.rows] == ["empty-agent"]


def test_a_sample_shows_what_share_of_all_arrived() -> None:
    row = lossy(1_000)
    sampled = replace(row, delivery="sampled", records=replace(row.records, expected=0, completeness=None, made=10_000))
    assert group_of_row(sampled) is Group.PARTIAL
    assert caveat(sampled) == "sampled: 10 % of all records arrived"


def test_the_cpu_of_what_is_missing_is_told_apart_only_where_it_is_another_number() -> None:
    row = lossy(1_000)
    per_record = tuple(one for one in row.measures if (one.name, one.per) == ("cpu", "record"))
    other = tuple(one for one in row.measures if (one.name, one.per) != ("cpu", "record"))
    spent = apart(row)
    assert per_record and spent and spent.per == "invocation"
    assert apart(replace(row, measures=other)) is None
    assert apart(lossy(row.records.expected)) is None


def test_an_error_verdict_comes_before_everything_that_was_measured() -> None:
    assert group_of_row(replace(lossy(10**9), verdicts=(NOTHING_RECORDED,))) is Group.FAILED


def test_what_drops_is_titled_with_the_rates_offered_and_carried() -> None:
    view = views(sample_findings())[1]
    title = group_title(Group.DROPS, view.groups[Group.DROPS])
    assert title == "drops by policy (offered 3.4 million records/s; carries about 67,000/s here)"


def test_every_row_is_in_exactly_one_group() -> None:
    findings = with_row(sample_findings(), delivery="sampled", rank=None)
    shown = [row for view in views(findings) for row in (*view.baselines, *view.rows)]
    assert sorted(map(repr, shown)) == sorted(map(repr, findings.configurations))


def test_each_row_has_the_band_of_its_own_heap() -> None:
    view = views(sample_findings())[1]
    bands = {row.heap_bytes: view.half_width(view.band_of(row.heap_bytes)) for row in view.rows}
    assert sorted(band for band in bands.values() if band) == pytest.approx([0.62, 0.91])


def test_an_indicative_run_is_led_to_ten_blocks_and_a_full_one_to_narrower_intervals() -> None:
    run = Path("runs/x")
    assert next_line(sample_findings(blocks=5), run)[1] == "./tracetax run --resume runs/x --blocks 10"
    assert next_line(sample_findings(blocks=10), run)[1] == "./tracetax run --resume runs/x --half-width 0.5%"


@pytest.mark.parametrize("reason", get_args(PartFinding.__annotations__["stopped"]))
def test_every_way_to_stop_has_words(reason: str) -> None:
    assert STOPPED[reason]


def test_only_what_settled_is_said_to_be_as_narrow_as_asked_for() -> None:
    assert [reason for reason, words in STOPPED.items() if "asked for" in words] == ["settled"]


def test_every_label_but_what_the_part_says_is_explained() -> None:
    assert set(LABELS.values()) == set(LABEL_MEANINGS)
