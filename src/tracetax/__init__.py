"""Tracetax measures what tracing costs, and whether the records arrived."""

__version__ = "0.1.0"
