import os
from pathlib import Path

import pytest

from tests.run.stand_ins import ROOT
from tracetax.artifacts import build_sink, cache_dir


@pytest.fixture(scope="session")
def sink_binary() -> Path:
    return build_sink(ROOT, cache_dir(os.environ))


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", 99.0)
