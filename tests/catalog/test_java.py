from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import check_java, load_agents, untested_java
from tracetax.errors import ExitCode, UserError
from tracetax.model import Agent

Change = Callable[[Path, str, str], None]


@pytest.fixture
def agents(repository: Repository, change: Change) -> list[Agent]:
    change(repository.tracer, "min = 8", "min = 17")
    return list(load_agents(repository.root).values())


@pytest.mark.parametrize("release", [17, 18, 25])
def test_the_oldest_java_that_an_agent_needs_and_newer_ones_will_do(agents: list[Agent], release: int) -> None:
    check_java({release: agents})


def test_an_older_java_is_refused_with_agent_both_releases_and_the_way_out(agents: list[Agent]) -> None:
    with pytest.raises(UserError) as caught:
        check_java({17: agents, 11: agents})
    message = str(caught.value)
    assert message.startswith(
        "tracer 1.2.3 needs Java 17 or newer, and would run on Java 11.\nAsk for a JDK of at least 17"
    )
    assert "--jdk 17, or JAVA_HOME=" in message
    assert caught.value.exit_code == ExitCode.USAGE


def test_every_agent_that_needs_a_newer_java_is_named(agents: list[Agent]) -> None:
    with pytest.raises(UserError, match=r"(?s)The baseline needs Java 8.*tracer 1\.2\.3 needs Java 17.*at least 17"):
        check_java({7: agents})


def test_a_java_that_an_agent_was_not_tried_on_is_said(agents: list[Agent]) -> None:
    assert untested_java(agents, 17) == []
    assert untested_java(agents, 21) == ["The baseline was not tried on Java 21, but on 17."]
    assert untested_java(agents, 25)[1] == "tracer 1.2.3 was not tried on Java 25, but on 17 and 21."
