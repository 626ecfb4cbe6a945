"""What was typed becomes an experiment, or a sentence about why it cannot."""

from pathlib import Path

import pytest

from tests.catalog.conftest import EXPERIMENT, Repository
from tests.settings import java_settings
from tracetax.commands.request import Request, asked, refuse_fixed
from tracetax.errors import UserError

FAST = "\n[fast]\nparameters = { calls = 100 }\nschedule = { blocks = { min = 2, max = 3 } }\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.write("experiments/trial.toml", EXPERIMENT + FAST)
    return made


def test_fast_asks_for_the_shorter_version_and_the_command_line_goes_before_it(repository: Repository) -> None:
    full = asked(Request(experiment="trial"), repository.root).experiment
    short = asked(Request(experiment="trial", fast=True), repository.root).experiment
    assert (full.parts[0].parameters.calls, short.parts[0].parameters.calls) == (1_000, 100)
    assert short.schedule.max_blocks == 3
    assert asked(Request(experiment="trial", fast=True, blocks=7), repository.root).experiment.schedule.max_blocks == 7


def test_fast_needs_an_experiment_whose_file_says_what_it_means(repository: Repository) -> None:
    with pytest.raises(UserError, match="--fast goes with an experiment"):
        asked(Request(agent="tracer", fast=True), repository.root)


def test_two_builds_can_be_compared_without_an_experiment(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"old\.jar: there is no such file"):
        asked(Request(agent="tracer", artifacts=(f"tracer.agent={tmp_path}/old.jar",)), repository.root)


def test_jvm_settings_can_be_typed_with_an_experiment_and_without(repository: Repository) -> None:
    of_file = asked(Request(experiment="trial", jdk="17,21"), repository.root).experiment
    assert [part.settings.get("jdk", 0) for part in of_file.parts] == [17, 21]
    without = asked(Request(agent="tracer", jdk="21", collector="Z", heap="256 MiB"), repository.root).experiment
    assert [part.settings for part in without.parts] == [java_settings(256 << 20, "Z", 21)]


def test_any_setting_of_the_workloads_runtime_can_be_typed(repository: Repository) -> None:
    of_file = asked(Request(experiment="trial", settings=("jdk=17,21",)), repository.root).experiment
    assert [part.settings.get("jdk", 0) for part in of_file.parts] == [17, 21]
    without = asked(Request(agent="tracer", settings=("heap=256MiB",), collector="Z"), repository.root).experiment
    assert [part.settings for part in without.parts] == [java_settings(256 << 20, "Z")]


def test_a_workload_can_be_typed_without_an_experiment_only(repository: Repository) -> None:
    with pytest.raises(UserError, match="--workload goes with --agent"):
        asked(Request(experiment="trial", workload="calltree/java"), repository.root)
    with pytest.raises(UserError, match=r'"calltree/jaav" is no workload\. Did you mean "calltree/java"'):
        asked(Request(agent="tracer", workload="calltree/jaav"), repository.root)
    assert (
        asked(Request(agent="tracer", workload="calltree/java"), repository.root).experiment.workload == "calltree/java"
    )


def test_two_versions_at_once_are_refused(repository: Repository) -> None:
    with pytest.raises(UserError, match="--fast and --as-published exclude each other"):
        asked(Request(experiment="trial", fast=True, as_published=True), repository.root)


def test_a_resume_names_everything_that_it_cannot_change() -> None:
    with pytest.raises(UserError, match="--agent, --jdk, --artifact, --fast: a run goes on as it began"):
        refuse_fixed(Request(agent="tracer", jdk="21", fast=True, artifacts=("tracer.agent=a.jar",)))


def test_a_resume_may_have_another_schedule() -> None:
    refuse_fixed(Request(blocks=5, half_width="1 %", budget="1min", dry_run=True))
