from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import JAVA, ROOT, Repository
from tracetax.catalog import check_releases, load_agents, untested_releases
from tracetax.catalog.workload_file import load_workload
from tracetax.errors import ExitCode, UserError
from tracetax.model import Agent

Change = Callable[[Path, str, str], None]
PYTHON = load_workload("calltree/python", ROOT)[1]


@pytest.fixture
def agents(repository: Repository, change: Change) -> list[Agent]:
    change(repository.tracer, "min = 8", "min = 17")
    return list(load_agents(repository.root, "java").values())


@pytest.mark.parametrize("release", [17, 18, 25])
def test_the_oldest_java_that_an_agent_needs_and_newer_ones_will_do(agents: list[Agent], release: int) -> None:
    check_releases({release: agents}, JAVA)


def test_an_older_java_is_refused_with_agent_both_releases_and_the_way_out(agents: list[Agent]) -> None:
    with pytest.raises(UserError) as caught:
        check_releases({17: agents, 11: agents}, JAVA)
    message = str(caught.value)
    assert message.startswith(
        "tracer 1.2.3 needs Java 17 or newer, and would run on Java 11.\n"
        "Ask for Java 17 or newer (--set jdk=17, or jdk under [runtime.java])"
    )
    assert caught.value.exit_code == ExitCode.USAGE


def test_every_agent_that_needs_a_newer_java_is_named(agents: list[Agent]) -> None:
    every = r"(?s)The baseline needs Java 8.*tracer 1\.2\.3 needs Java 17.*Ask for Java 17 or newer"
    with pytest.raises(UserError, match=every):
        check_releases({7: agents}, JAVA)


def test_a_java_that_an_agent_was_not_tried_on_is_said(agents: list[Agent]) -> None:
    assert untested_releases(agents, 17, JAVA) == []
    assert untested_releases(agents, 21, JAVA) == ["The baseline was not tried on Java 21, but on 17."]
    assert untested_releases(agents, 25, JAVA)[1] == "tracer 1.2.3 was not tried on Java 25, but on 17 and 21."


def test_releases_are_written_as_their_runtime_writes_them(agents: list[Agent]) -> None:
    assert untested_releases(agents[1:], 18, PYTHON) == [
        "tracer 1.2.3 was not tried on Python 3.18, but on 3.17 and 3.21."
    ]
    with pytest.raises(UserError, match=r"tracer 1\.2\.3 needs Python 3\.17 or newer, and would run on Python 3\.11\."):
        check_releases({11: agents}, PYTHON)
