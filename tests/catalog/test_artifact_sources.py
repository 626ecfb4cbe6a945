"""Where an artifact comes from: one source, with what belongs to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import load_agents
from tracetax.model import Artifact

Change = Callable[[Path, str, str], None]
MAVEN = 'maven = "org.example:tracer:1.2.3"\nsha256 = "' + "0" * 64 + '"'


def source(repository: Repository, change: Change, text: str) -> dict[str, str]:
    change(repository.tracer, MAVEN, text)
    return repository.problems()


def test_an_address_has_a_checksum_and_a_version(repository: Repository, change: Change) -> None:
    text = f'url = "https://example.org/tracer-2.tar.gz"\nversion = "2"\nsha256 = "{"1" * 64}"'
    assert source(repository, change, text) == {}
    agent = load_agents(repository.root, "java")["tracer"]
    assert agent.artifacts["agent"] == Artifact(
        "agent", sha256="1" * 64, url="https://example.org/tracer-2.tar.gz", version_named="2"
    )
    assert agent.version == "2"


def test_a_file_that_only_its_owner_has_needs_no_more_than_a_sentence(repository: Repository, change: Change) -> None:
    assert source(repository, change, 'given = "the jar from the vendor\'s page"') == {}
    assert load_agents(repository.root, "java")["tracer"].version == ""


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('maven = "org.example:tracer:1"', "sha256", "is missing: of the file that was really fetched"),
        (f'{MAVEN}\nversion = "1"', "version", "must not stand beside maven"),
        (f'{MAVEN}\nurl = "https://example.org/a.jar"', "url", "is a second source beside maven"),
        (f'url = "https://example.org/a.jar"\nsha256 = "{"1" * 64}"', "version", "which stands in every row"),
        ('url = "https://example.org/a.jar"\nversion = "1"', "sha256", "is missing"),
        (f'url = "ftp://example.org/a"\nversion = "1"\nsha256 = "{"1" * 64}"', "url", "is not the address of a file"),
        (f'given = "a jar"\nsha256 = "{"1" * 64}"', "sha256", "must not stand beside given"),
    ],
)
def test_a_source_that_is_not_whole_is_reported_once(
    repository: Repository, change: Change, text: str, key: str, said: str
) -> None:
    found = source(repository, change, text)
    assert list(found) == [f"tracer: artifacts.agent.{key}"]
    assert said in found[f"tracer: artifacts.agent.{key}"]


def test_an_artifact_without_a_source_is_told_all_there_are(repository: Repository, change: Change) -> None:
    found = source(repository, change, 'version = "1"')
    assert list(found) == ["tracer: artifacts.agent"]
    assert all(word in found["tracer: artifacts.agent"] for word in ("maven", "url", "given"))
