"""The plan in words says on what each part runs."""

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import HEAP, RUNTIME, agents, configuration, experiment
from tests.settings import java_settings
from tracetax.model import Experiment
from tracetax.run.describe import estimated_seconds, plan_lines

FLAT = configuration("flat")


def words(what: Experiment) -> str:
    return "\n".join(plan_lines(what, agents(FLAT), 1, RUNTIME))


def test_one_java_for_all_parts_is_told_once() -> None:
    assert words(experiment(FLAT)).count("the JDK that is found first, heap 64 MiB, G1") == 1


def test_where_parts_differ_each_says_its_own() -> None:
    (part,) = experiment(FLAT).parts
    parts = tuple(replace(part, name=f"p{jdk}", settings=java_settings(HEAP, "Z", jdk)) for jdk in (17, 21))
    text = words(replace(experiment(FLAT), parts=parts))
    assert "Java 17, heap 64 MiB, Z" in text
    assert "Java 21, heap 64 MiB, Z" in text
    assert "A block is each of these 6 trials once" in text


def test_a_version_of_the_file_is_named() -> None:
    assert "As many calls and starts as were published" in words(replace(experiment(FLAT), variant="as-published"))


def test_a_program_that_each_trial_builds_is_told() -> None:
    (part,) = experiment(FLAT).parts
    parameters = replace(part.parameters, start_up_methods=1000, start_up_built=True)
    text = words(replace(experiment(FLAT), parts=(replace(part, parameters=parameters),)))
    assert "after 1,000 methods at the start, built in each trial" in text


def test_a_backend_in_the_sinks_place_takes_time_to_start() -> None:
    what = experiment(FLAT)
    (part,) = what.parts
    (use,) = part.uses
    backed = replace(what, parts=(replace(part, uses=(replace(use, backend="a-server"),)),))
    at_the_sink, at_the_backend = (estimated_seconds(one, agents(FLAT))[0] for one in (what, backed))
    assert at_the_backend == pytest.approx(at_the_sink + 14 * what.schedule.min_blocks)
