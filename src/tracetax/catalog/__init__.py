"""Reads and checks the agents' folders and the experiments, and reports every problem at once."""

from tracetax.catalog.agent_checks import check_releases, untested_releases
from tracetax.catalog.agent_file import every_agent, load_agents
from tracetax.catalog.command_line import adhoc_experiment, rescheduled
from tracetax.catalog.experiment_file import experiment_names, load_catalog, load_experiment, load_experiments
from tracetax.catalog.placeholders import fill
from tracetax.catalog.reading import CatalogError

__all__ = [
    "CatalogError",
    "adhoc_experiment",
    "check_releases",
    "every_agent",
    "experiment_names",
    "fill",
    "load_agents",
    "load_catalog",
    "load_experiment",
    "load_experiments",
    "rescheduled",
    "untested_releases",
]
