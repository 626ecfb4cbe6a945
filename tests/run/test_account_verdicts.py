"""What a trial's reader is told about its account; and that docs/verdicts.md explains every verdict there is."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.results.trials import ledger
from tests.run.stand_ins import configuration
from tracetax.ledger import ProtocolCount
from tracetax.model import Delivery
from tracetax.results.records import WarmUp
from tracetax.run.drain import Drained
from tracetax.run.verdicts import of_drain, of_other_http, of_records, of_warm_up

ROOT = Path(__file__).resolve().parents[2]
COMPLETE = configuration("flat")
WARM = WarmUp(calls=12_000, bursts=3, how="", driver_level=4, method_level=4, ledger=ledger(1_000))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, {}),
        ({"received": 1_001}, {"too-many-records": "error"}),
        ({"received": 900, "dropped": 100}, {"drops": "note"}),
        ({"received": 900, "dropped": 101}, {"account-exceeds": "warning", "drops": "note"}),
        ({"received": 900}, {"records-lost": "warning"}),
        ({"received": 0}, {"nothing-recorded": "error"}),
        ({"refused": 3}, {"sink-full": "warning"}),
        ({"malformed": 1}, {"malformed-input": "error"}),
        ({"cut_off": 1}, {"cut-off": "warning"}),
        ({"duplicates": 1}, {"duplicates": "warning"}),
        ({"unexpected_names": 2, "unexpected": {"X.<init>": 2}}, {"unexpected-names": "note"}),
        ({"complete_trees": 99}, {"broken-trees": "error"}),
    ],
)
def test_what_is_told_of_an_account(changes: dict[str, Any], found: dict[str, str]) -> None:
    verdicts = of_records(ledger(1_000, **changes), COMPLETE)
    assert {verdict.code: verdict.severity for verdict in verdicts} == found


@pytest.mark.parametrize(
    ("phases", "received", "says", "severity"),
    [
        (
            [{"otlp-http": ProtocolCount(grpc_at_http=1)}, {"otlp-http": ProtocolCount()}],
            0,
            "gRPC came to the HTTP port (otlp-http): use otlp-grpc. 1 connection was turned away",
            "error",
        ),
        (
            [{"otlp-grpc": ProtocolCount(http_at_grpc=2)}, {"otlp-grpc": ProtocolCount(http_at_grpc=1)}],
            0,
            "HTTP/1 came to the gRPC port (otlp-grpc): use otlp-http. 3 connections were turned away",
            "error",
        ),
        ([{"otlp-http": ProtocolCount(grpc_at_http=1)}], 10, "use otlp-grpc", "warning"),
    ],
)
def test_the_wrong_http_is_told_with_the_right_one(
    phases: list[dict[str, ProtocolCount]], received: int, says: str, severity: str
) -> None:
    (verdict,) = of_other_http(phases, received=received)
    assert says in verdict.text
    assert (verdict.code, verdict.severity) == ("wrong-http", severity)


def test_nothing_is_told_where_everyone_spoke_the_right_http() -> None:
    assert of_other_http([{"otlp-http": ProtocolCount(requests=3)}], received=0) == []


def test_what_a_backend_turned_away_is_not_the_sinks() -> None:
    (verdict,) = of_records(ledger(1_000, refused=3), COMPLETE, backend="Fake server")
    assert (verdict.code, verdict.severity) == ("backend-refused", "warning")
    assert "Fake server" in verdict.text


def test_what_came_after_the_drain_is_told_beyond_what_may_be_held_back() -> None:
    holding = replace(COMPLETE, held_back=50)

    def codes(arrived: int, *, within_limit: bool = True) -> list[str]:
        return [verdict.code for verdict in of_drain(ledger(1_000), holding, arrived, Drained(1, within_limit))]

    assert codes(arrived=1_000) == codes(arrived=950) == []
    assert codes(arrived=949) == ["after-drain"]
    assert codes(arrived=1_000, within_limit=False) == ["drain-limit"]


def test_a_drain_that_was_given_up_is_told_unless_everything_came_after_it() -> None:
    cut = Drained(1, within_limit=True, outstanding=400, still="connected", silent_ns=11 * 10**9)
    (verdict,) = of_drain(ledger(1_000, 600), COMPLETE, 600, cut)
    assert (verdict.code, verdict.severity) == ("drain-cut", "warning")
    assert "400 of 1,000 records were outstanding when the drain was given up after 11 s of silence" in verdict.text
    assert [verdict.code for verdict in of_drain(ledger(1_000), COMPLETE, 1_000, cut)] == []
    (limit,) = of_drain(ledger(1_000, 600), COMPLETE, 600, replace(cut, within_limit=False, still="busy"))
    assert limit.text == "400 of 1,000 records were outstanding at the drain limit, and the agent was still busy"


@pytest.mark.parametrize(
    ("warm_up", "connected", "found"),
    [
        (WARM, True, []),
        (replace(WARM, method_level=3), True, ["not-warm"]),
        (replace(WARM, driver_level=2), True, ["not-warm"]),
        (replace(WARM, ledger=ledger(1_000, 990)), True, ["warm-up-loss"]),
        (replace(WARM, rest_ns=2_003_000_000, at_rest=False), True, ["still-compiling"]),
        (replace(WARM, ledger=ledger(1_000, 990)), False, []),
    ],
)
def test_what_is_told_of_a_warm_up(warm_up: WarmUp, connected: bool, found: list[str]) -> None:
    verdicts = of_warm_up(warm_up, COMPLETE, connected, delivers=True)
    assert [verdict.code for verdict in verdicts] == found
    assert all(verdict.severity == "warning" for verdict in verdicts)


def test_what_is_not_warm_is_told_as_its_runtime_tells_it() -> None:
    by_list, by_time = (
        replace(WARM, how=how, driver_level=0, method_level=0) for how in ("codelist", "steady-call-time")
    )
    (listed,), (timed,) = (of_warm_up(each, COMPLETE, True, delivers=True) for each in (by_list, by_time))
    assert listed.text.endswith("the driver was at compiler tier 0 and the method at tier 0, not 4")
    assert timed.text.endswith("warm-up calls the time of a call was not steady yet")


def test_an_agent_that_deletes_its_oldest_files_loses_none_of_the_warm_up() -> None:
    deleting = replace(COMPLETE, delivery=Delivery.LOSSY, deletes_oldest=True)
    assert of_warm_up(replace(WARM, ledger=ledger(1_000, 10)), deleting, connected=True, delivers=True) == []


def codes_in(file: Path) -> set[str]:
    """The codes of the verdicts that a file makes."""
    makers = ("Verdict", "WorkloadFailed", *(("add",) if file.name == "verdicts.py" else ()))
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in makers:
            continue
        said = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "code")]
        found |= {value.value for value in said if isinstance(value, ast.Constant) and isinstance(value.value, str)}
    return found


def test_every_verdict_is_explained_and_every_one_explained_exists() -> None:
    files = sorted((ROOT / "src").rglob("*.py"))
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "verdicts.md").read_text(), re.MULTILINE))
    made = set[str]().union(*map(codes_in, files))
    assert made <= explained, made - explained
    texts = [file.read_text(encoding="utf-8") for file in files]
    unknown = {code for code in explained - made if not any(f'"{code}"' in text for text in texts)}
    assert not unknown


def test_one_of_something_is_told_in_the_singular() -> None:
    lossy = configuration("flat", Delivery.LOSSY)
    texts = {
        verdict.code: verdict.text
        for verdict in of_records(ledger(100, received=99, malformed=1, cut_off=1, refused=1, duplicates=1), lossy)
    }
    assert texts["malformed-input"].startswith("1 message could not be read")
    assert texts["cut-off"].startswith("1 message ended in the middle")
    assert texts["sink-full"].startswith("1 request was turned away")
    assert texts["duplicates"] == "1 record arrived twice"
    assert texts["silent-loss"] == "1 of 100 records neither arrived nor was reported as dropped"
