import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import CatalogError, adhoc_experiment, load_agents, rescheduled
from tracetax.model import Parameters, Schedule, Use


def test_agents_on_the_command_line_are_measured_as_shipped(repository: Repository) -> None:
    experiment = adhoc_experiment(load_agents(repository.root), ["tracer"], rate="500/s", depth=4)
    (part,) = experiment.parts
    assert part.uses == (Use("tracer", "stock"),)
    assert part.parameters == Parameters(calls=1_500, depth=4, rate=500.0)


def test_at_full_speed_a_trial_makes_a_fixed_number_of_calls(repository: Repository) -> None:
    experiment = adhoc_experiment(load_agents(repository.root), ["tracer"])
    assert experiment.parts[0].parameters == Parameters(calls=200_000, depth=10)


def test_every_wrong_option_is_reported_at_once(repository: Repository) -> None:
    with pytest.raises(CatalogError) as caught:
        adhoc_experiment(load_agents(repository.root), ["tracre", "none"], rate="1000", depth=0, heap="1")
    (report,) = caught.value.reports
    assert report.file == "the command line"
    assert {problem.key for problem in report.problems} == {"--agent", "--rate", "--depth", "--heap"}


def test_no_agent_at_all_is_refused(repository: Repository) -> None:
    with pytest.raises(CatalogError, match="names no agent"):
        adhoc_experiment(load_agents(repository.root), [])


def test_options_change_what_they_name_of_a_schedule() -> None:
    schedule = Schedule(min_blocks=5, max_blocks=5)
    assert rescheduled(schedule) == schedule
    assert rescheduled(schedule, min_blocks=10) == Schedule(min_blocks=10, max_blocks=10)
    assert rescheduled(schedule, max_blocks=3) == Schedule(min_blocks=3, max_blocks=3)
    assert rescheduled(schedule, half_width="0.5%").half_width_ratio == 0.005
    assert rescheduled(schedule, budget="5min").budget_ns == 300 * 10**9


def test_wrong_options_for_a_schedule_are_reported_at_once() -> None:
    with pytest.raises(CatalogError) as caught:
        rescheduled(Schedule(), min_blocks=1, half_width="1", budget="5")
    (report,) = caught.value.reports
    assert {problem.key for problem in report.problems} == {"--min-blocks", "--half-width", "--budget"}
