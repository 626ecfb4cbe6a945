"""The lock files: what pyproject.toml asks for, pinned, hashed and without addresses."""

import re
import tomllib

from packaging.requirements import Requirement

from .clone import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(name: str) -> dict[str, str]:
    """Package → version of a lock file; checks that each entry has a hash."""
    versions: dict[str, str] = {}
    for entry in (ROOT / name).read_text().replace("\\\n", " ").splitlines():
        pinned = re.match(r"([a-z0-9-]+)==(\S+)", entry)
        assert pinned, f"{entry[:60]} is not pinned"
        assert pinned[1] not in versions, f"{pinned[1]} has two versions"
        assert "--hash=sha256:" in entry, f"{pinned[1]} has no hash"
        versions[pinned[1]] = pinned[2]
    return versions


RUNTIME, TEST = locked("requirements.lock"), locked("requirements-test.lock")


def test_what_the_project_needs_is_locked_at_a_version_that_it_allows() -> None:
    for text in PROJECT["project"]["dependencies"]:
        needed = Requirement(text)
        assert needed.specifier.contains(RUNTIME[needed.name]), needed


def test_what_the_tests_need_is_locked_at_a_version_that_they_allow() -> None:
    for text in PROJECT["dependency-groups"]["test"]:
        needed = Requirement(text)
        assert needed.specifier.contains(TEST[needed.name]), needed


def test_both_locks_agree_on_what_they_share() -> None:
    assert {name: TEST[name] for name in RUNTIME.keys() & TEST.keys()}.items() <= RUNTIME.items()


def test_no_lock_names_an_address() -> None:
    for name in ("requirements.lock", "requirements-test.lock"):
        assert "://" not in (ROOT / name).read_text()
