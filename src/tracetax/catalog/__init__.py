"""Reads and checks the agents' folders and the experiments, and reports every problem at once."""

from tracetax.catalog.adhoc import adhoc_experiment
from tracetax.catalog.experiment_file import experiment_names
from tracetax.catalog.java import check_java, untested_java
from tracetax.catalog.loading import load_agents, load_catalog, load_experiment, load_experiments
from tracetax.catalog.placeholders import fill
from tracetax.catalog.problems import CatalogError
from tracetax.catalog.scheduling import rescheduled

__all__ = [
    "CatalogError",
    "adhoc_experiment",
    "check_java",
    "experiment_names",
    "fill",
    "load_agents",
    "load_catalog",
    "load_experiment",
    "load_experiments",
    "rescheduled",
    "untested_java",
]
