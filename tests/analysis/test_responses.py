"""Sentences on what an agent adds to a service's answers, and whether these keep an objective."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.analysis.test_findings import findings
from tests.results.trials import durations, record
from tracetax.analysis.cost import response_measures
from tracetax.analysis.responses import response_statements
from tracetax.kinds.requests import RequestParameters, Weighted
from tracetax.results.blocks import whole_blocks
from tracetax.results.findings import Findings, Measure
from tracetax.results.records import Role, TrialRecord
from tracetax.service import Objective

MS = 1_000_000


def told(folder: Path, objective: Objective | None = None, **measures: Any) -> list[str]:
    """The sentences of a run of a service in which the traced row has these measures."""
    whole = findings(folder, [record(number, block=block) for number, block in ((1, 1), (2, 2))])
    return [statement.text for statement in response_statements(as_service(whole, objective, measures))]


def as_service(whole: Findings, objective: Objective | None, measures: dict[str, Any]) -> Findings:
    parameters = RequestParameters(calls=1_000, rate=200.0, mix=(Weighted("one", 1),), learned=())
    parts = tuple(replace(part, parameters=parameters, levels="") for part in whole.experiment.parts)
    rows = tuple(
        replace(
            row,
            parameters=parameters,
            measures=tuple(
                Measure(name=name, unit="ns", per="call", estimate=mean, sd=None, ci95=limits, n_blocks=2, labels=())  # type: ignore[arg-type]
                for name, (mean, limits) in measures.items()
                if not row.cell.is_baseline or not name.endswith(("_added", "_ratio"))
            ),
        )
        for row in whole.configurations
    )
    experiment = replace(whole.experiment, parts=parts, objective=objective)
    return replace(whole, experiment=experiment, configurations=rows)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ((1.5 * MS, 2.5 * MS), "adds 2.00 ± 0.50 ms to its p99"),
        ((-1 * MS, 5 * MS), "adds at most 5.0 ms to its p99"),
        ((1 * MS, 9 * MS), "adds 2.0 ms [1.0, 9.0] to its p99"),
        (None, "adds 2.0 ms to its p99"),
    ],
)
def test_what_is_added_has_its_interval(tmp_path: Path, limits: tuple[float, float] | None, says: str) -> None:
    (text,) = told(tmp_path, response_time_p99_added=(2 * MS, limits))
    assert text.startswith("At 200 requests/s, ")
    assert says in text


def test_the_cpu_of_a_request_is_told_in_per_cent_and_memory_may_be_less(tmp_path: Path) -> None:
    (text,) = told(tmp_path, cpu_ratio=(1.31, (1.27, 1.35)), rss_peak_added=(-14.3e6, (-15.6e6, -13.0e6)))
    assert "31.0 ± 4.0 % to the CPU of a request" in text
    assert "−14.3 ± 1.3 MB of memory" in text


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ((40 * MS, 49 * MS), "holds with Fake (flat)"),
        ((50 * MS, 60 * MS), "does not hold with Fake (flat)"),
        ((45 * MS, 55 * MS), "is undecided with Fake (flat)"),
        (None, "cannot be judged by one block with Fake (flat)"),
    ],
)
def test_an_objective_is_judged_by_the_whole_interval(
    tmp_path: Path, limits: tuple[float, float] | None, says: str
) -> None:
    objective = Objective("p99", 50 * MS, "p99 < 50 ms")
    *_, text = told(tmp_path, objective, response_time_p99=(45 * MS, limits))
    assert text.startswith("At 200 requests/s, p99 < 50 ms ")
    assert says in text


def test_a_quantile_that_is_not_told_leaves_an_objective_open(tmp_path: Path) -> None:
    (text,) = told(tmp_path, Objective("p99", 50 * MS, "p99 < 50 ms"))
    assert "p99 < 50 ms is not known with Fake (flat)" in text
    assert text.endswith("of 1,000 requests in a trial fewer than 10 lie beyond it (--calls).")


def test_a_program_that_makes_its_own_calls_has_no_such_sentence(tmp_path: Path) -> None:
    assert not response_statements(findings(tmp_path, [record(1)]))


def trials_of(part: str, requests: int) -> list[TrialRecord]:
    """Two blocks of a service's trials, each of which answered so many requests."""
    parameters = RequestParameters(calls=requests, rate=200.0, mix=(Weighted("one", 1),))
    roles: tuple[tuple[Role, float], ...] = (("baseline-1", 1.0), ("baseline-2", 1.0), ("configuration", 3.0))
    return [
        record(
            number=10 * block + place,
            block=block,
            role=role,
            part=part,
            block_size=6,
            parameters=parameters,
            response=replace(durations(mean * MS), count=requests),
        )
        for block in (1, 2)
        for place, (role, mean) in enumerate(roles)
    ]


def test_a_part_with_few_requests_hides_no_percentile_of_another() -> None:
    trials = [*trials_of("many", 2_000), *trials_of("few", 500)]
    blocks = whole_blocks(replace(trial, number=number) for number, trial in enumerate(trials))
    assert len(blocks) == 2
    told = {
        part: {one.name for one in response_measures(blocks, trial.cell, trial.parameters)}
        for part, trial in (("many", trials[2]), ("few", trials[-1]))
    }
    assert "response_time_p99_added" in told["many"]
    assert "response_time_p90_added" in told["few"]
    assert "response_time_p99_added" not in told["few"]
