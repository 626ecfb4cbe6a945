"""An experiment that goes by what a search has found is measured at a share of the slowest configuration's rate."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, experiment, new_run
from tracetax.commands import rates as rates_module
from tracetax.commands.rates import at_found_rates
from tracetax.errors import UserError
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.model import FULL, Experiment, Part, Rates, Search
from tracetax.results.capacity import (
    Capacity,
    CapacityFinding,
    CapacityOutcome,
    CapacityTrial,
    CountsAs,
    RateAtUsage,
    write_capacity,
)
from tracetax.statistics.intervals import Estimate

FLAT = configuration("flat")
RATES = Rates(of="the-search", share=0.5, seconds=20.0)


def row(part: str, agent: str, rate: float | None, outcome: CapacityOutcome = "bracket") -> CapacityFinding:
    """Of a search: what it has found, or where that is nothing, the rates that the load made."""
    tried: list[tuple[float, CountsAs]] = [(800.0, "complete"), (6_000.0, "not-made")]
    made = tuple(
        CapacityTrial(place, offered, offered, counts, expected=0, received=0, dropped_reported=0)
        for place, (offered, counts) in enumerate(tried, start=1)
    )
    found = (
        None if rate is None else RateAtUsage(rate=Estimate(mean=rate, sd=None, n=4, ci95=None), at=rate, cores=0.75)
    )
    return CapacityFinding(
        part=f"{part}-{agent}-stock-2",
        agent=agent,
        agent_name=agent,
        version="",
        artifact_sha256="",
        configuration="stock:2",
        title="",
        delivery="complete",
        depth=1,
        threads=1,
        jvm=None,
        java=None,
        outcome=outcome,
        complete_at=None,
        incomplete_at=None,
        confirmed=True,
        loss_at_most=None,
        hidden_per_second=None,
        text="",
        trials=made,
        at_usage=found,
    )


def search(folder: Path, *rows: CapacityFinding, key: str = "the-search", day: int = 1) -> Path:
    run = new_run(folder, replace(experiment(FLAT), key=key), FLAT)
    manifest = run.manifest
    begun = replace(manifest.invocations[0], started_at=f"2026-01-{day:02d}T00:00:00+00:00")
    run.write_manifest(replace(manifest, invocations=(begun,)))
    write_capacity(run.path, Capacity(2, "", (), "", {}, Search(), rows))
    return run.path


def latency(*parts: str) -> Experiment:
    parameters = RequestParameters(calls=1_000, rate=FULL, mix=(Weighted("db", 3),))
    return replace(
        experiment(FLAT),
        key="the-latency",
        rates=RATES,
        parts=tuple(Part(name=name, title=name, parameters=parameters, uses=(), settings={}) for name in parts),
    )


def test_each_part_has_a_share_of_its_slowest_configurations_rate(tmp_path: Path) -> None:
    rows = (row("db", "none", 900.0), row("db", "a", 411.0), row("db", "b", 500.0), row("json", "a", 80.0))
    found = search(tmp_path / "s", *rows)
    changed, sentence = at_found_rates(latency("db", "json"), RATES, found)
    assert [part.parameters.rate for part in changed.parts] == [206.0, 40.0]
    assert [part.parameters.calls for part in changed.parts] == [4_119, 798]  # twenty seconds, in whole cycles
    assert changed.rates == replace(RATES, run=str(found))
    assert sentence == f"Rates: 50 % of the slowest configuration's rate of {found}."


def test_where_the_load_could_not_make_it_what_it_made_is_the_limit(tmp_path: Path) -> None:
    found = search(tmp_path / "s", row("db", "none", None, "none-made"), row("db", "a", 9_000.0))
    changed, _ = at_found_rates(latency("db"), RATES, found)
    assert changed.parts[0].parameters.rate == 3_000.0


def test_a_search_that_has_not_found_all_of_a_part_is_to_go_on(tmp_path: Path) -> None:
    found = search(tmp_path / "s", row("db", "none", 900.0), row("db", "a", None, "unfinished"), row("json", "a", 80.0))
    with pytest.raises(UserError, match=f"to be measured: db, other.(?s:.*)capacity --resume {found}"):
        at_found_rates(latency("db", "json", "other"), RATES, found)


def test_the_newest_search_of_the_named_experiment_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates_module, "RUNS", tmp_path)
    with pytest.raises(UserError, match=r"no run of it in .*(?s:.*)Measure them first: ./tracetax run the-search"):
        at_found_rates(latency("db"), RATES, None)
    search(tmp_path / "a", row("db", "a", 100.0), day=3)
    search(tmp_path / "b", row("db", "a", 200.0), day=2)
    search(tmp_path / "c", row("db", "a", 400.0), day=4, key="another")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "capacity.json").write_text("{}")
    changed, _ = at_found_rates(latency("db"), RATES, None)
    assert changed.parts[0].parameters.rate == 50.0
