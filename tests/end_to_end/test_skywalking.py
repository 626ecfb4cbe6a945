"""SkyWalking: every record at a low rate, what it samples, what it cuts, and a Java on which it traces nothing."""

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import measure_each, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 300
SAMPLED_CALLS = 5 * CALLS
"""Calls of more than 3 s: for so long the warm-up may have used up what may be sampled."""
LIMIT = 300
"""Spans that a segment has at most."""
EXPERIMENT = """
title = "SkyWalking at a low rate"
workload = "calltree/java"
result = false
[parameters]
depth = {depth}
rate = "300/s"
calls = {calls}
[jvm]
heap = "256 MiB"
jdk = {jdk}
[[configurations]]
agent = "skywalking"
use = {use}
[schedule]
blocks = {{ min = 2, max = 2 }}
budget = "5min"
memory = false
"""


def measured(
    folder: Path, use: list[str], root: Path = ROOT, calls: int = CALLS, depth: int = 10, jdk: int = 0
) -> dict[str, TrialRecord]:
    text = EXPERIMENT.format(depth=depth, calls=calls, jdk=jdk, use=use)
    file = folder / "skywalking.toml"
    file.write_text(text if jdk else text.replace("jdk = 0\n", ""))
    return measure_each(file, root, folder / "run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("skywalking")


@pytest.fixture(scope="module")
def trials(folder: Path) -> dict[str, TrialRecord]:
    return measured(folder, ["stock", "lossless", "no-collection"])


@pytest.mark.parametrize("configuration", ["stock", "lossless"])
def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord], configuration: str) -> None:
    ledger = trials[configuration].ledger
    assert ledger
    assert ledger.expected == ledger.received == 10 * CALLS
    assert ledger.complete_trees == ledger.expected_trees == ledger.requests == CALLS
    assert ledger.malformed == ledger.duplicates == ledger.orphans == ledger.unexpected_names == ledger.cut_off == 0
    # what is called before it has connected is not traced
    assert verdicts(trials[configuration]).keys() <= {"warm-up-loss"}


def test_what_it_samples_are_whole_trees_and_nothing_is_missed(tmp_path: Path) -> None:
    ledger = measured(tmp_path, ["sampling"], calls=SAMPLED_CALLS)["sampling"].ledger
    assert ledger
    assert (ledger.expected, ledger.missing) == (0, 0)
    assert 0 < ledger.received == 10 * ledger.complete_trees < 10 * SAMPLED_CALLS


def test_a_class_of_which_no_method_is_intercepted_brings_nothing(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["no-collection"].ledger
    assert ledger
    assert ledger.received == ledger.unexpected_names == 0
    assert verdicts(trials["no-collection"]) == {}


def test_the_agent_logs_into_the_folder_of_its_trial(folder: Path, trials: dict[str, TrialRecord]) -> None:
    assert len(list(folder.glob("run/trials/*/skywalking-api.log"))) == len(trials)


def test_what_a_tree_has_beyond_the_limit_is_truncated_and_not_lost(tmp_path: Path) -> None:
    trial = measured(tmp_path, ["stock"], depth=LIMIT + 10)["stock"]
    ledger = trial.ledger
    assert ledger
    assert ledger.expected == ledger.received == LIMIT * CALLS
    assert ledger.complete_trees == CALLS
    assert ledger.truncated == 10 * CALLS
    assert verdicts(trial)["truncated"] == "note"


def test_a_java_that_it_does_not_know_ends_in_its_verdict(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("workloads", "sink", "published", "experiments", "runtimes"):
        (root / name).symlink_to(ROOT / name)
    for name in ("none", "skywalking"):
        shutil.copytree(ROOT / "agents" / name, root / "agents" / name)
    file = root / "agents" / "skywalking" / "agent.toml"
    flag = '"-Dskywalking.logging.dir={trial.dir}",'
    assert file.read_text().count(flag) == 1
    # as it ships, the line that it logs there at its start takes the whole JVM along
    file.write_text(file.read_text().replace(flag, f'{flag} "-Dskywalking.logging.level=WARN",'))
    trials = measured(tmp_path, ["stock", "newer-java"], root, jdk=25)
    assert verdicts(trials["stock"])["nothing-recorded"] == "error"
    assert trials["stock"].exit_status == 0
    known = trials["newer-java"].ledger
    assert known
    assert known.expected == known.received == 10 * CALLS
