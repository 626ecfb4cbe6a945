"""What a trial concludes where calls are counted instead of recorded."""

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration
from tracetax.ledger import Ledger, ProtocolCount, account
from tracetax.model import Delivery, Scrape
from tracetax.run.verdicts import of_metrics, of_records

COUNTING = replace(
    configuration("counting", Delivery.AGGREGATED),
    protocol="prometheus",
    scrape=Scrape("/metrics", 10**9, "calls_total"),
)


def counted(records: int, made: int, *, requests: int = 1, unanswered: int = 0) -> tuple[ProtocolCount, Ledger]:
    count = ProtocolCount(records=records, requests=requests, unanswered=unanswered)
    return count, account(count, expected_records=0, expected_trees=0, dropped_in_log=0, made=made)


@pytest.mark.parametrize(
    ("measured", "before", "codes"),
    [
        ((200, 200), (1_000, 1_000), {}),
        ((199, 200), (1_000, 1_000), {"aggregate-differs": "warning"}),
        ((201, 200), (1_000, 1_000), {"aggregate-differs": "warning"}),
        ((200, 200), (999, 1_000), {"aggregate-differs": "warning"}),
        ((0, 200), (1_000, 1_000), {"nothing-recorded": "error"}),
    ],
)
def test_the_counter_must_rise_by_the_number_of_invocations(
    measured: tuple[int, int], before: tuple[int, int], codes: dict[str, str]
) -> None:
    count, ledger = counted(*measured)
    _, warm_up = counted(*before)
    found = of_metrics(count, ledger, warm_up, COUNTING)
    assert {verdict.code: verdict.severity for verdict in found} == codes
    assert of_records(ledger, COUNTING) == []


def test_an_endpoint_that_was_never_there_is_the_only_thing_to_tell() -> None:
    count, ledger = counted(0, 200, requests=0)
    found = of_metrics(count, ledger, ledger, COUNTING)
    assert [(verdict.code, verdict.severity) for verdict in found] == [("never-scraped", "error")]


def test_requests_without_an_answer_are_told_beside_the_count() -> None:
    count, ledger = counted(200, 200, unanswered=2)
    found = of_metrics(count, ledger, ledger, COUNTING)
    assert [(verdict.code, verdict.severity) for verdict in found] == [("unanswered", "warning")]


def test_metrics_without_a_number_of_calls_are_told_to_have_none() -> None:
    count, ledger = counted(0, 200)
    found = of_metrics(count, ledger, ledger, replace(COUNTING, scrape=Scrape("/metrics", 10**9)))
    assert [(verdict.code, verdict.severity) for verdict in found] == [("not-counted", "note")]


def test_what_is_not_asked_for_metrics_has_no_verdict_of_them() -> None:
    count, ledger = counted(0, 200)
    assert of_metrics(count, ledger, ledger, configuration("flat")) == []
