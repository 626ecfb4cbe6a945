"""Stand-ins for mvn, go and javac: small scripts that do as the test says."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FakeTool = Callable[[str, str], None]


@pytest.fixture
def fake_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTool:
    """Put a shell script by the given name before everything else on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def make(name: str, script: str) -> None:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    return make


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
