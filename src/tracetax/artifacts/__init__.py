"""Fetches and builds what a trial needs, by the ordinary clients, cached by content and checked by checksum."""

from tracetax.artifacts.builds import build_sink, build_workload
from tracetax.artifacts.cache import cache_dir, sha256_of
from tracetax.artifacts.local import keep
from tracetax.artifacts.maven import fetch
from tracetax.artifacts.tools import ToolFailed, find_tool

__all__ = ["ToolFailed", "build_sink", "build_workload", "cache_dir", "fetch", "find_tool", "keep", "sha256_of"]
