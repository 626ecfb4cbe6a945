"""Agents that are asked for their metrics: what their files must say, and what comes of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.catalog.conftest import Repository
from tracetax.catalog import load_agents
from tracetax.catalog.placeholders import sink_protocols
from tracetax.model import Scrape

COUNTING = """
[configurations.counting]
title = "counted"
layers = ["I", "C", "W"]
delivery = "aggregated"
protocol = "prometheus"
scrape = { path = "/metrics", metric = "calls_total" }
flags = ["-Dtracer.port={scrape.port}"]
"""


@pytest.fixture
def counting(repository: Repository) -> Callable[[str, str], Repository]:
    """The repository with a configuration that counts, in which something is put in the place of something else."""

    def with_changed(old: str = "", new: str = "") -> Repository:
        assert COUNTING.count(old) == 1 or not old
        file: Path = repository.tracer
        file.write_text(file.read_text() + COUNTING.replace(old, new))
        return repository

    return with_changed


def test_it_is_asked_every_fifteen_seconds_unless_it_says_otherwise(counting: Callable[..., Repository]) -> None:
    found = load_agents(counting().root, "java")["tracer"].configurations["counting"]
    assert found.scrape == Scrape(path="/metrics", interval_ns=15 * 10**9, metric="calls_total")
    assert sink_protocols(found) == {"otlp-http", "prometheus"}


def test_without_a_metric_nothing_is_counted(counting: Callable[..., Repository]) -> None:
    root = counting(', metric = "calls_total"', ', interval = "1 s"').root
    assert load_agents(root, "java")["tracer"].configurations["counting"].scrape == Scrape("/metrics", 10**9)


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ("{scrape.port}", "9464", "protocol", "where it shall serve its metrics"),
        ("{scrape.port}", "{scrape.prot}", "flags[0]", 'Did you mean "scrape.port"'),
        ('scrape = { path = "/metrics", metric = "calls_total" }', "", "scrape", "is missing"),
        ('"/metrics"', '"metrics"', "scrape.path", "begins with a slash"),
        ('"/metrics"', '"/my metrics"', "scrape.path", "no blanks"),
        ('"calls_total"', '"calls total"', "scrape.metric", "the name of a metric"),
        ("scrape = { path", "scrape = { interval = 15, path", "scrape.interval", "unit"),
        ('"aggregated"', '"lossy"', "delivery", 'must be "aggregated"'),
        ('"prometheus"', '"otlp-http"', "scrape", "is given"),
        ('"prometheus"', '"otlp-http"', "delivery", 'must be "aggregated" where'),
    ],
)
def test_what_cannot_be_asked_for_is_told(
    counting: Callable[..., Repository], old: str, new: str, key: str, text: str
) -> None:
    problems = counting(old, new).problems()
    assert text in problems[f"tracer: configurations.counting.{key}"]
