"""Agents in manifests of earlier versions have the present names."""

from pathlib import Path

from tracetax.results.folder import RunFolder

STORED = Path(__file__).parents[1] / "goldens" / "runs" / "agents"


def test_an_agents_releases_flags_and_search_path_are_read() -> None:
    kieker = RunFolder(STORED).manifest.agents["kieker"]
    assert (kieker.runtime.min, kieker.runtime.tested) == (11, (17, 21, 25))
    for configuration in kieker.configurations.values():
        assert configuration.flags[0] == "-Dkieker.monitoring.name=tracetax"
        assert configuration.search_path == ("{workload.built}",)
