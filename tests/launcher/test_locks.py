"""The lock files: what pyproject.toml asks for, pinned, hashed and without addresses."""

import re
import tomllib

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from .clone import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


RELEASES = [
    text.rpartition(" ")[2] for text in PROJECT["project"]["classifiers"] if "Programming Language :: Python" in text
]


def locked(name: str, release: str) -> dict[str, str]:
    """Package → version of a lock file for a release of Python on Linux; checks that each entry has a hash."""
    versions: dict[str, str] = {}
    for entry in (ROOT / name).read_text().replace("\\\n", " ").splitlines():
        pinned = re.match(r"([a-z0-9-]+)==(\S+)(?: +; ([^#]+?))? +--hash=sha256:", entry)
        assert pinned, f"{entry[:60]} is not pinned, or has no hash"
        python = {"python_version": release, "python_full_version": f"{release}.0", "sys_platform": "linux"}
        if pinned[3] is None or Marker(pinned[3]).evaluate(python):
            assert pinned[1] not in versions, f"{pinned[1]} has two versions for Python {release}"
            versions[pinned[1]] = pinned[2]
    return versions


@pytest.mark.parametrize("release", RELEASES)
def test_what_the_project_needs_is_locked_at_a_version_that_it_allows(release: str) -> None:
    runtime = locked("requirements.lock", release)
    for text in PROJECT["project"]["dependencies"]:
        needed = Requirement(text)
        assert needed.specifier.contains(runtime[needed.name]), needed


@pytest.mark.parametrize("release", RELEASES)
def test_what_the_tests_need_is_locked_at_a_version_that_they_allow(release: str) -> None:
    tests = locked("requirements-test.lock", release)
    for text in PROJECT["dependency-groups"]["test"]:
        needed = Requirement(text)
        assert needed.specifier.contains(tests[needed.name]), needed


@pytest.mark.parametrize("release", RELEASES)
def test_both_locks_agree_on_what_they_share(release: str) -> None:
    runtime, tests = locked("requirements.lock", release), locked("requirements-test.lock", release)
    assert {name: tests[name] for name in runtime.keys() & tests.keys()}.items() <= runtime.items()


def test_no_lock_names_an_address() -> None:
    for name in ("requirements.lock", "requirements-test.lock"):
        assert "://" not in (ROOT / name).read_text()
