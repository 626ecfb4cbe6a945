"""An agent's file that has several releases of the agent."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import load_agents
from tracetax.model import Agent

Change = Callable[[Path, str, str], None]

OLDER = f"""
[artifacts.older]
maven = "org.example:tracer:1.0.0"
sha256 = "{"1" * 64}"
released = 2013-10-16

[configurations.older]
extends = "stock"
title = "1.0.0, as shipped"
release = {{ artifact = "older", line = "as shipped" }}
"""


@pytest.fixture
def said(repository: Repository, change: Change) -> Repository:
    change(repository.tracer, "[configurations.off]", f"{OLDER}\n[configurations.off]")
    return repository


def tracer(repository: Repository) -> Agent:
    return load_agents(repository.root, "java")["tracer"]


def test_a_release_has_its_own_version_and_its_day(said: Repository) -> None:
    assert said.problems() == {}
    agent = tracer(said)
    itself = agent.itself("older")
    assert itself
    assert (agent.version_in("older"), itself.released, itself.sha256) == ("1.0.0", "2013-10-16", "1" * 64)
    release = agent.configurations["older"].release
    assert release
    assert release.line == "as shipped"
    assert agent.version_in("stock") == agent.version == "1.2.3"


def test_what_extends_a_release_is_none_itself(said: Repository, change: Change) -> None:
    change(
        said.tracer,
        "[configurations.off]",
        '[configurations.more]\nextends = "older"\ntitle = "x"\n[configurations.off]',
    )
    assert tracer(said).configurations["more"].release is None


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('artifact = "older"', 'artifact = "oldr"', "configurations.older.release.artifact", 'Did you mean "older"'),
        ("released = 2013-10-16", "", "artifacts.older.released", "is missing"),
        ("released = 2013-10-16", 'released = "2013-10-16"', "artifacts.older.released", "must be a date without"),
        ("released = 2013-10-16", "released = 2013-10-16T10:00:00", "artifacts.older.released", "must be a date"),
    ],
)
def test_a_release_that_is_not_known_is_reported_where_it_is_said(
    said: Repository, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(said.tracer, old, new)
    assert text in said.problems()[f"tracer: {key}"]
