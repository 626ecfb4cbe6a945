import os
import tempfile

import pytest
from hypothesis import settings

# how long an example takes depends on what else the machine does, and says nothing about the code
settings.register_profile("tracetax", deadline=None)
settings.load_profile("tracetax")


def pytest_configure(config: pytest.Config) -> None:
    """Give each process that runs tests a folder for temporary files and a lock of its own.

    These tests need no quiet machine. The runs of one process must not keep another from its own, nor a real
    measurement on this machine from its end.
    """
    folder = tempfile.TemporaryDirectory(prefix="tracetax-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    os.environ["TRACETAX_LOCK"] = f"{folder.name}/tracetax.lock"
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ["TMPDIR"] = tempfile.tempdir = folder.name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests with real agents first, then the other slow ones: many short ones fill what is left of the time."""
    items.sort(key=lambda item: (not item.get_closest_marker("real"), not item.get_closest_marker("slow")))
