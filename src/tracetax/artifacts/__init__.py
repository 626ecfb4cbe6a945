"""Fetches and builds what a trial needs, by the ordinary clients, cached by content and checked by checksum."""

from tracetax.artifacts.builds import build_host, build_load, build_sink, build_workload, source_files, sources_of
from tracetax.artifacts.cache import Say, cache_dir, sha256_of
from tracetax.artifacts.local import keep
from tracetax.artifacts.maven import fetch
from tracetax.artifacts.native import lacking
from tracetax.artifacts.obtain import missing_pins, obtain
from tracetax.artifacts.prepared import Workplace, class_files, prepared
from tracetax.artifacts.start_up import build_start_up
from tracetax.artifacts.tools import ToolFailed, find_tool, runner_of

__all__ = [
    "Say",
    "ToolFailed",
    "Workplace",
    "build_host",
    "build_load",
    "build_sink",
    "build_start_up",
    "build_workload",
    "cache_dir",
    "class_files",
    "fetch",
    "find_tool",
    "keep",
    "lacking",
    "missing_pins",
    "obtain",
    "prepared",
    "runner_of",
    "sha256_of",
    "source_files",
    "sources_of",
]
