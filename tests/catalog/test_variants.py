"""``[fast]`` and ``[as-published]`` say what ``--fast`` and ``--as-published`` change; what they do not say stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tests.settings import tree
from tracetax.catalog import CatalogError, every_agent, load_experiment
from tracetax.catalog.experiment_shape import Variant
from tracetax.model import Experiment

Change = Callable[[Path, str, str], None]
FAST = """
[schedule]
blocks = { min = 10, max = 30 }
half_width = "1 %"
budget = "2h"

[fast]
parameters = { calls = 100 }
schedule = { blocks = { max = 5 }, budget = "20min" }
"""


def add(repository: Repository, text: str) -> None:
    repository.experiment.write_text(repository.experiment.read_text() + text)


def loaded(repository: Repository, variant: Variant = "") -> Experiment:
    return load_experiment("trial", every_agent(repository.root), repository.root, variant=variant)


def test_only_what_fast_says_changes(repository: Repository) -> None:
    add(repository, FAST)
    full, short = loaded(repository), loaded(repository, "fast")
    assert (full.variant, short.variant) == ("", "fast")
    assert (full.parts[0].parameters.calls, short.parts[0].parameters.calls) == (1_000, 100)
    assert tree(short.parts[0].parameters).depth == 10
    assert short.schedule.budget_ns == 20 * 60 * 10**9
    assert short.schedule.half_width_ratio == full.schedule.half_width_ratio == 0.01
    assert (full.schedule.min_blocks, full.schedule.max_blocks) == (10, 30)


def test_blocks_are_replaced_as_a_whole_and_one_bound_moves_the_other(repository: Repository) -> None:
    add(repository, FAST)
    schedule = loaded(repository, "fast").schedule
    assert (schedule.min_blocks, schedule.max_blocks) == (5, 5)


def test_a_parts_own_parameters_go_before(repository: Repository, change: Change) -> None:
    parts = """
[[parts]]
name = "own"
title = "Own"
parameters = { calls = 7 }
[[parts]]
name = "common"
title = "Common"
"""
    add(repository, parts + FAST)
    short = loaded(repository, "fast")
    assert [part.parameters.calls for part in short.parts] == [7, 100]


def test_what_would_change_nothing_is_said(repository: Repository) -> None:
    parts = '\n[[parts]]\nname = "own"\ntitle = "Own"\nparameters = { calls = 7 }\n'
    add(repository, parts + FAST)
    assert "changes nothing" in repository.problems()["fast.parameters.calls"]


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ("calls = 100 }", "calls = 0 }", "fast.parameters.calls", "between 1 and"),
        ("calls = 100 }", "cals = 100 }", "fast.parameters.cals", 'Did you mean "calls"'),
        ("calls = 100 }", "calls = [5, 5] }", "fast.parameters.calls", "the same value twice"),
        ("{ max = 5 }", "{ min = 9, max = 5 }", "fast.schedule.blocks.min", "9 is more than fast.schedule.blocks.max"),
        ('"20min"', '"20"', "fast.schedule.budget", "needs a unit"),
    ],
)
def test_mistakes_in_it_are_found_without_asking_for_it(
    repository: Repository, change: Change, old: str, new: str, key: str, text: str
) -> None:
    add(repository, FAST)
    change(repository.experiment, old, new)
    found = repository.problems()
    assert list(found) == [key]
    assert text in found[key]


def test_an_experiment_without_it_has_no_shorter_version(repository: Repository) -> None:
    with pytest.raises(CatalogError, match="there is no shorter version for --fast"):
        loaded(repository, "fast")


def test_each_version_is_one_by_itself(repository: Repository) -> None:
    published = """
[as-published]
parameters = { calls = 2_000 }
jvm = { jdk = 21 }
schedule = { blocks = { min = 12, max = 12 } }
"""
    add(repository, FAST + published)
    full, short, printed = loaded(repository), loaded(repository, "fast"), loaded(repository, "as-published")
    assert [one.parts[0].parameters.calls for one in (full, short, printed)] == [1_000, 100, 2_000]
    assert [one.parts[0].settings.get("jdk", 0) for one in (full, short, printed)] == [0, 0, 21]
    assert (printed.schedule.min_blocks, printed.schedule.max_blocks) == (12, 12)
    assert printed.schedule.budget_ns == full.schedule.budget_ns


def test_a_version_that_the_file_does_not_describe_is_refused(repository: Repository) -> None:
    add(repository, FAST)
    with pytest.raises(CatalogError, match="as-published: is missing"):
        loaded(repository, "as-published")
