"""Requests: how many records they make is known from the mix before they are sent."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from tests.report.sample_findings import sample_findings
from tests.report.test_terminal import printed
from tests.run.stand_ins import configuration
from tracetax.agent import CallRecords
from tracetax.kinds import declaration_of
from tracetax.kinds.requests import RequestParameters, Weighted, reduced
from tracetax.parameters import FULL, Offers

MIX = (Weighted("db", 3), Weighted("queries", 1))
PARAMETERS = RequestParameters(calls=400, rate=100.0, mix=MIX, queries=10)
CONFIG = replace(
    configuration("flat"),
    records_per_call={"db": CallRecords(2), "queries": CallRecords(1, 2), "other": None},
    queue=2_048,
)
KIND = declaration_of(PARAMETERS)


def test_records_are_those_of_whole_cycles() -> None:
    assert KIND.records_made(PARAMETERS, CONFIG, 400) == 300 * 2 + 100 * 21
    assert KIND.records_made(PARAMETERS, CONFIG, 0) == 0
    assert KIND.records_of_sort(PARAMETERS, CONFIG, "queries") == 21


@pytest.mark.parametrize("unknown", ["other", "undeclared"])
def test_where_those_of_an_endpoint_are_not_known_none_is_promised(unknown: str) -> None:
    some = replace(PARAMETERS, mix=(Weighted("db", 1), Weighted(unknown, 1)))
    assert KIND.records_made(some, CONFIG, 400) == 0


def test_a_burst_has_whole_cycles_and_fits_where_it_can() -> None:
    assert KIND.burst_calls(PARAMETERS, CONFIG, 512) == 4 * (512 // 27)
    assert KIND.burst_calls(PARAMETERS, CONFIG, 1) == 4
    assert KIND.burst_calls(PARAMETERS, replace(CONFIG, records_per_call={}), 20_000) == 500


def test_a_rate_has_whole_cycles_too() -> None:
    at = KIND.at_rate(PARAMETERS, 33.0, 3.0)
    assert at
    assert (at.calls, at.rate) == (96, 33.0)
    full = KIND.at_rate(PARAMETERS, FULL, 3.0)
    assert full
    assert full.calls % 4 == 0


def test_weights_are_told_in_the_shortest_cycle() -> None:
    assert reduced({"a": 6, "b": 4}) == (Weighted("a", 3), Weighted("b", 2))


def test_what_is_sent_is_told_in_words() -> None:
    assert KIND.words(PARAMETERS) == (
        "400 requests to db (75 %) and queries (25 %), at 100 requests/s, on 64 connections at most"
    )
    alike = replace(PARAMETERS, mix=(Weighted("db", 1), Weighted("json", 1)), arrivals="poisson")
    assert KIND.words(alike) == (
        "400 requests to db and json equally, at 100 requests/s, at random moments, on 64 connections at most"
    )
    at_once = replace(PARAMETERS, mix=(Weighted("db", 1),), arrivals="bursts", connections=20)
    assert KIND.words(at_once) == "400 requests to db, at 100 requests/s, 20 at once, on 20 connections at most"
    full = replace(PARAMETERS, mix=(Weighted("db", 1),), rate=FULL, connections=1)
    assert KIND.words(full) == "400 requests to db, back to back on 1 connection"


def test_an_agent_is_tried_with_every_endpoint() -> None:
    tried = KIND.parameters_to_check(Offers(threads_max=1, wait=(), endpoints=("a", "b")))
    assert (tried.calls, tried.rate, tried.mix) == (200, 20.0, (Weighted("a", 1), Weighted("b", 1)))


def test_tables_tell_cost_per_request() -> None:
    def as_requests(holder: Any) -> Any:
        return replace(holder, parameters=replace(PARAMETERS, rate=holder.parameters.rate))

    def per_call(row: Any) -> Any:
        costs = (cost for cost in row.measures if (cost.name, cost.per) != ("overhead", "invocation"))
        return replace(
            as_requests(row),
            measures=tuple(replace(cost, per=cost.per.replace("invocation", "call")) for cost in costs),
        )

    trees = sample_findings()
    sent = replace(
        trees,
        experiment=replace(trees.experiment, parts=tuple(map(as_requests, trees.experiment.parts))),
        configurations=tuple(map(per_call, trees.configurations)),
    )
    told = printed(sent, 140)
    assert re.search(r"\brequest,", told)
    assert "without an agent a request takes" in told
    assert "requests to db (75 %) and queries (25 %), at " in told
    assert not re.search(r"\b(invocation|call),", told)
