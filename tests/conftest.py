import os
import tempfile

import pytest
from hypothesis import settings

# how long an example takes depends on what else the machine does, and says nothing about the code
settings.register_profile("tracetax", deadline=None)
settings.load_profile("tracetax")


def pytest_configure(config: pytest.Config) -> None:
    """Give each of the processes that share the tests a folder of its own for temporary files.

    The lock that lets one run measure at a time lies there. These tests need no quiet machine, and the runs of one
    process must not keep another from its own.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="tracetax-tests-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        os.environ["TMPDIR"] = tempfile.tempdir = folder.name
