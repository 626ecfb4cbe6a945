"""Reads and checks the agents' folders and the experiments, and reports every problem at once."""

from tracetax.catalog.adhoc import adhoc_experiment, rescheduled
from tracetax.catalog.agent_file import BASELINE
from tracetax.catalog.experiment_file import experiment_names
from tracetax.catalog.loading import load_agents, load_catalog, load_experiment, load_experiments
from tracetax.catalog.placeholders import fill
from tracetax.catalog.problems import CatalogError

__all__ = [
    "BASELINE",
    "CatalogError",
    "adhoc_experiment",
    "experiment_names",
    "fill",
    "load_agents",
    "load_catalog",
    "load_experiment",
    "load_experiments",
    "rescheduled",
]
