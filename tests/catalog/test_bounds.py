"""Quantities that no machine can measure are refused before anything runs, all at once, with what is allowed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository, adhoc
from tracetax.catalog import CatalogError, every_agent, load_agents, load_experiment
from tracetax.catalog.command_line import TypedExperiment

Change = Callable[[Path, str, str], None]


def test_every_quantity_beyond_its_bounds_is_told_at_once_with_what_is_allowed(
    repository: Repository, change: Change
) -> None:
    wrong = 'depth = 10\nmethod_time = "99999999999h"\nrate = ["0.0000001/s", "1000000000/s"]\nthreads = 100_000'
    change(repository.experiment, "depth = 10", wrong)
    change(repository.experiment, '"1 GiB"', '"1 B"')
    with pytest.raises(CatalogError) as caught:
        load_experiment("trial", every_agent(repository.root), repository.root)
    (report,) = caught.value.reports
    problems = {problem.key: problem.text for problem in report.problems}
    assert problems == {
        "parameters.method_time": '"99999999999h" is too much: at most a year is allowed',
        "parameters.rate[0]": '"0.0000001/s" is no rate that can be made: "0.01/s" to "100000000/s" is allowed, '
        'or "full" for back to back',
        "parameters.rate[1]": '"1000000000/s" is no rate that can be made: "0.01/s" to "100000000/s" is allowed, '
        'or "full" for back to back',
        "parameters.threads": "must be between 1 and 1,024, not 100,000",
        "jvm.heap": '"1 B" is too little for a JVM: at least "16 MiB" is allowed',
    }


def test_a_trial_that_would_take_days_is_refused(repository: Repository, change: Change) -> None:
    change(repository.experiment, "calls = 1_000", 'calls = 1_000_000\nrate = "1/s"')
    with pytest.raises(CatalogError, match=r"parameters\.calls: would take 278 hours in each trial: at most 24"):
        load_experiment("trial", every_agent(repository.root), repository.root)


def test_options_have_the_same_bounds(repository: Repository) -> None:
    known = every_agent(repository.root).of("java")
    with pytest.raises(CatalogError) as caught:
        adhoc(known, TypedExperiment(agent="tracer", rate="0.0000001/s", threads=100_000, heap="1 B", depth=10**9))
    keys = {problem.key for report in caught.value.reports for problem in report.problems}
    assert keys == {"--rate", "--threads", "--heap", "--depth"}
    with pytest.raises(CatalogError, match="--calls: would take 28 hours"):
        adhoc(known, TypedExperiment(agent="tracer", rate="1000/s", calls=100_000_000))
    with pytest.raises(CatalogError, match=r"--heap: .*at most 4,096 GiB"):
        adhoc(known, TypedExperiment(agent="tracer", heap="9999999999 GiB"))


def test_control_characters_in_a_file_are_refused_and_do_not_reach_the_terminal(
    repository: Repository, change: Change
) -> None:
    change(repository.experiment, '"An experiment"', '"An \\u001b[2J experiment"')
    with pytest.raises(CatalogError) as caught:
        load_experiment("trial", every_agent(repository.root), repository.root)
    assert "title: " in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_name_that_no_file_system_takes_is_refused(repository: Repository, change: Change) -> None:
    change(repository.tracer, "[configurations.off]", f"[configurations.{'a' * 300}]")
    with pytest.raises(CatalogError, match="at most 64 lower-case letters"):
        load_agents(repository.root, "java")
