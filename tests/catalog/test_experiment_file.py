from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tests.settings import java_settings, tree
from tracetax.catalog import every_agent, load_experiment, load_experiments
from tracetax.errors import UserError
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Experiment, Schedule, Use

Change = Callable[[Path, str, str], None]
USES = """
[[configurations]]
agent = "tracer"
use = ["off", "stock"]
"""


def loaded(repository: Repository, name_or_path: str = "trial") -> Experiment:
    return load_experiment(name_or_path, every_agent(repository.root), repository.root)


def test_without_parts_an_experiment_is_one_part_by_its_own_name(repository: Repository) -> None:
    (part,) = loaded(repository).parts
    assert (part.name, part.title) == ("trial", "An experiment")
    assert part.uses == (Use("tracer", "off"), Use("tracer", "stock"))


def test_what_is_not_said_has_its_default(repository: Repository) -> None:
    experiment = loaded(repository)
    assert experiment.parts[0].parameters == TreeParameters(calls=1_000, depth=10)
    assert experiment.parts[0].settings == java_settings(2**30, "G1", jdk=0)
    assert experiment.schedule == Schedule()
    assert experiment.result


def test_a_list_in_a_parameter_makes_one_part_of_each_value(repository: Repository, change: Change) -> None:
    change(repository.experiment, "depth = 10", "depth = [2, 4]")
    parts = loaded(repository).parts
    assert [(part.name, tree(part.parameters).depth) for part in parts] == [("trial-depth-2", 2), ("trial-depth-4", 4)]
    assert parts[0].title == "An experiment, depth 2"


def test_lists_in_several_parameters_make_all_combinations(repository: Repository, change: Change) -> None:
    change(
        repository.experiment, "depth = 10", 'depth = [2, 4]\nrate = ["1000/s", "full"]\nmethod_time = ["0ns", "1us"]'
    )
    parts = loaded(repository).parts
    assert len({part.name for part in parts}) == 8
    assert parts[0].name == "trial-depth-2-method-time-0ns-rate-1000"
    assert parts[-1].title == "An experiment, depth 4, method time 1 us, rate full"


def test_the_monitored_part_of_the_methods_at_the_start_is_a_factor(repository: Repository, change: Change) -> None:
    change(repository.experiment, "depth = 10", "depth = 10\nstart_up_methods = 100\nstart_up_monitored = [0, 100]")
    parts = [part.parameters for part in loaded(repository).parts]
    assert [(part.start_up_methods, part.start_up_monitored) for part in parts] == [(100, 0), (100, 100)]


def test_more_methods_cannot_be_monitored_at_the_start_than_there_are(repository: Repository, change: Change) -> None:
    change(repository.experiment, "depth = 10", "depth = 10\nstart_up_methods = 100\nstart_up_monitored = [0, 101]")
    assert "more than start_up_methods" in repository.problems()["parameters.start_up_monitored"]


def test_a_program_that_every_trial_builds_needs_methods(repository: Repository, change: Change) -> None:
    change(repository.experiment, "depth = 10", "depth = 10\nstart_up_built = true")
    assert "nothing to build" in repository.problems()["parameters.start_up_built"]
    change(repository.experiment, "start_up_built", "start_up_methods = 100\nstart_up_built")
    assert [part.parameters.start_up_built for part in loaded(repository).parts] == [True]
    change(repository.experiment, "start_up_built = true", "start_up_built = [false, true]")
    assert [part.levels for part in loaded(repository).parts] == ["start up built no", "start up built yes"]


def test_a_list_of_one_value_is_no_factor(repository: Repository, change: Change) -> None:
    change(repository.experiment, "depth = 10", "depth = [10]")
    assert [part.name for part in loaded(repository).parts] == ["trial"]


def test_a_part_has_its_own_parameters_and_configurations_before_those_of_the_experiment(
    repository: Repository, change: Change
) -> None:
    change(
        repository.experiment,
        USES,
        USES
        + """
[[parts]]
name = "service"
title = "At a rate"
parameters = { rate = "1000/s", calls = 50 }
configurations = [{ agent = "tracer", use = ["stock"] }]
[[parts]]
name = "full"
title = "At full speed"
""",
    )
    service, full = loaded(repository).parts
    assert service.parameters == TreeParameters(calls=50, depth=10, rate=1000.0)
    assert service.uses == (Use("tracer", "stock"),)
    assert full.parameters == TreeParameters(calls=1_000, depth=10)
    assert full.uses == (Use("tracer", "off"), Use("tracer", "stock"))


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("blocks = { min = 2, max = 3 }", Schedule(min_blocks=2, max_blocks=3)),
        ("blocks = { max = 5 }", Schedule(min_blocks=5, max_blocks=5)),
        ("blocks = { min = 40 }", Schedule(min_blocks=40, max_blocks=40)),
        ('half_width = "0.5 %"', Schedule(half_width_ratio=0.005)),
        ('half_width = "1 ns"', Schedule(half_width_ns=1.0)),
        ('half_width = "2 % or 5 ns"', Schedule(half_width_ratio=0.02, half_width_ns=5.0)),
        ('budget = "5min"', Schedule(budget_ns=300 * 10**9)),
        ("memory = false", Schedule(memory=False)),
        ("starts = 60", Schedule(starts=60)),
        ("starts = 0", Schedule(starts=0)),
    ],
)
def test_what_a_schedule_does_not_say_keeps_its_default(
    repository: Repository, change: Change, schedule: str, expected: Schedule
) -> None:
    change(repository.experiment, USES, f"{USES}[schedule]\n{schedule}\n")
    assert loaded(repository).schedule == expected


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('title = "An experiment"', "", "title", "is missing"),
        ("calltree/java", "calltree/jaav", "workload", 'Did you mean "calltree/java"?'),
        ("depth = 10", "", "parameters.depth", "is missing"),
        ("depth = 10", "dept = 10", "parameters.dept", 'Did you mean "depth"?'),
        ("depth = 10", "depth = 0", "parameters.depth", "must be between 1 and 1,000, not 0"),
        ("depth = 10", "depth = [4, 0]", "parameters.depth[1]", "must be between 1 and 1,000, not 0"),
        ("depth = 10", "depth = [4, 4]", "parameters.depth", "names the same value twice"),
        ("depth = 10", "depth = []", "parameters.depth", "is an empty list"),
        ("depth = 10", "depth = 10\nrate = 1000", "parameters.rate", '1000 needs a unit: "1000/s", or "full"'),
        ("depth = 10", 'depth = 10\nmethod_time = "5"', "parameters.method_time", '"5" needs a unit: "5 s"'),
        ("depth = 10", "depth = 10\nthreads = 1_024", "parameters.threads", "is more than calls"),
        ("depth = 10", 'depth = 10\nwait = "sleep"', "parameters.wait", 'must be one of "park", "spin"'),
        ('heap = "1 GiB"', "", "jvm.heap", "is missing"),
        ('heap = "1 GiB"', 'heap = "1"', "jvm.heap", '"1" needs a unit: "1 GiB"'),
        ('heap = "1 GiB"', 'heap = "1 GiB"\ncollector = "G3"', "jvm.collector", "must be one of"),
        ('agent = "tracer"', 'agent = "tracre"', "configurations[0].agent", 'Did you mean "tracer"?'),
        ('"tracer"\nuse = ["off", "stock"]', '"none"\nuse = ["baseline"]', "configurations[0].use[0]", "is the base"),
        ('"off", "stock"', '"off", "stokc"', "configurations[0].use[1]", "(./tracetax list configurations tracer)"),
        ('"off", "stock"', '"off", "off"', "configurations[0].use[1]", "tracer off is named twice"),
        ('"off", "stock"', "", "configurations[0].use", "is an empty list"),
        (USES, "", "configurations", "is missing: name at least one configuration"),
        (USES, USES + "[schedule]\nblocks = { min = 0 }", "schedule.blocks.min", "must be at least 1, not 0"),
        (USES, USES + "[schedule]\nblocks = { min = 5, max = 3 }", "schedule.blocks.min", "5 is more than"),
        (USES, USES + '[schedule]\nhalf_width = "1"', "schedule.half_width", 'needs a unit: "1 %" or "2 ns"'),
        (USES, USES + '[schedule]\nbudget = "soon"', "schedule.budget", '"soon" is no time such as "5 s"'),
        (USES, USES + "[shedule]", "shedule", 'Did you mean "schedule"?'),
        (
            USES,
            USES + '[[parts]]\nname = "Full speed"\ntitle = "x"',
            "parts[0].name",
            "at most 64 lower-case",
        ),
        (
            USES,
            USES + '[[parts]]\nname = "a"\ntitle = "x"\n[[parts]]\nname = "a"\ntitle = "y"',
            "parts[1].name",
            'there are two parts by the name of "a"',
        ),
        (
            USES,
            USES + '[[parts]]\nname = "a"\ntitle = "x"\nparameters = { rate = "9" }',
            "parts[0].parameters.rate",
            '"9" needs a unit',
        ),
    ],
)
def test_a_mistake_is_reported_once_with_its_key_and_a_way_out(
    repository: Repository, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(repository.experiment, old, new)
    found = repository.problems()
    assert list(found) == [key]
    assert text in found[key]


def test_an_agent_of_another_language_than_the_workload_is_refused(repository: Repository, change: Change) -> None:
    repository.workload("python")
    change(repository.experiment, "calltree/java", "calltree/python")
    change(repository.experiment, '[jvm]\nheap = "1 GiB"', "")
    assert repository.problems() == {
        "configurations[0].agent": (
            "tracer has no folder for python: it has java. Write agents/tracer/python/agent.toml "
            "(docs/add-an-agent.md), or measure a workload in one of these"
        ),
    }


def test_the_error_names_file_key_nearest_name_and_the_command_that_lists_names(
    repository: Repository, change: Change
) -> None:
    change(repository.experiment, '"off", "stock"', '"stcok"')
    change(
        repository.experiment,
        USES.replace('"off", "stock"', '"stcok"'),
        USES.replace('"off", "stock"', '"stcok"') + '[schedule]\nhalf_width = "1"',
    )
    with pytest.raises(UserError) as caught:
        loaded(repository)
    assert str(caught.value) == (
        "experiments/trial.toml has 2 problems:\n"
        '  schedule.half_width: "1" needs a unit: "1 %" or "2 ns"\n'
        '  configurations[0].use[0]: "stcok" is no configuration of tracer. Did you mean "stock"?'
        "   (./tracetax list configurations tracer)"
    )


def test_an_unknown_experiment_is_answered_with_the_nearest_name(repository: Repository) -> None:
    with pytest.raises(UserError, match=r'"trail" is no experiment. Did you mean "trial"\?   \(./tracetax list exp'):
        loaded(repository, "trail")


def test_an_experiment_is_found_by_the_path_of_its_file(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    Path("my.toml").write_text(repository.experiment.read_text(encoding="utf-8"), encoding="utf-8")
    assert loaded(repository, "my.toml").key == "my"
    assert loaded(repository, "experiments/trial.toml").key == "trial"


def test_a_path_without_a_file_is_reported_as_it_was_typed(repository: Repository) -> None:
    with pytest.raises(UserError, match=r"(?s)\./no\.toml has 1 problem.*there is no such file"):
        loaded(repository, "./no.toml")


def test_the_problems_of_all_experiments_are_reported_at_once(repository: Repository) -> None:
    repository.write("experiments/one.toml", "=")
    repository.write("experiments/two.toml", 'title = ""')
    with pytest.raises(UserError, match=r"(?s)one\.toml has 1 problem.*two\.toml has \d problems"):
        load_experiments(every_agent(repository.root), repository.root)
