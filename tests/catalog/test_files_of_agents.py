"""Files that agents are given as they are: where nothing is filled in, they must name what is really monitored."""

from pathlib import Path

import pytest

from tracetax.catalog import load_agents
from tracetax.catalog.workload_file import load_workload
from tracetax.model import Profile

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "agents" / "inspectit" / "java" / "files"


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.yml")), ids=lambda file: file.parent.name)
def test_inspectits_rules_hook_the_monitored_method(file: Path) -> None:
    text, monitored = file.read_text(), load_workload("calltree/java", ROOT)[0].monitored.placeholders
    assert f"type: {{ name: {monitored['monitored.class']} }}" in text
    assert f"methods: [ {{ name: {monitored['monitored.method']} }} ]" in text


def test_inspectits_configurations_use_all_of_its_folders() -> None:
    configurations = load_agents(ROOT, "java")["inspectit"].configurations.values()
    flags = {flag.rpartition("/")[2] for config in configurations for flag in config.flags if "{agent.files}" in flag}
    assert flags == {folder.name for folder in FOLDER.iterdir()}


def test_the_counter_that_is_scraped_is_the_one_that_inspectit_is_told_to_keep() -> None:
    scrape = load_agents(ROOT, "java")["inspectit"].configurations["prometheus"].scrape
    assert scrape
    view = scrape.metric.removesuffix("_ratio_total").replace("_", "/")
    assert f"'[{view}]': {{ aggregation: COUNT }}" in (FOLDER / "metrics" / "tracetax.yml").read_text()


def test_no_two_starts_of_inspectit_write_into_one_place() -> None:
    for config in load_agents(ROOT, "java")["inspectit"].configurations.values():
        assert {"-Dinspectit.logging.file.enabled=false", "-Dinspectit.temp-dir={trial.dir}"} <= set(config.flags)


def test_inspectit_was_run_on_the_three_releases_that_its_file_names() -> None:
    agent = load_agents(ROOT, "java")["inspectit"]
    assert agent.runtime.tested == (17, 21, 25)


def test_inspectits_stock_row_is_woven_before_the_first_call() -> None:
    configurations = load_agents(ROOT, "java")["inspectit"].configurations
    (stock,) = (config for config in configurations.values() if config.profile is Profile.STOCK)
    assert "-Dinspectit.instrumentation.internal.async=false" in stock.flags
    assert configurations["otlp-in-background"].profile is None
