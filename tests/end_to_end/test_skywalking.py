"""SkyWalking: every record at a low rate, what it samples, what it cuts, and a Java on which it traces nothing."""

from pathlib import Path

import pytest

from tests.end_to_end.changed import change, root_of
from tests.end_to_end.trials import measure_agent, sampled, verdicts, whole
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS, RATE = 300, "300/s"
SAMPLED_CALLS = 5 * CALLS
"""Calls of more than 3 s: for so long the warm-up may have used up what may be sampled."""
FULL_SPEED = 50_000
"""Calls back to back, far more than the 1,500 that its queue takes in."""
LIMIT = 300
"""Spans that a segment has at most."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("skywalking")


@pytest.fixture(scope="module")
def trials(folder: Path) -> dict[str, TrialRecord]:
    return measure_agent(folder, "skywalking", ["stock", "lossless", "no-collection"], calls=CALLS, rate=RATE)


@pytest.mark.parametrize("configuration", ["stock", "lossless"])
def test_every_record_arrives_in_a_whole_tree(trials: dict[str, TrialRecord], configuration: str) -> None:
    assert whole(trials[configuration], CALLS).requests == CALLS
    # what is called before it has connected is not traced
    assert verdicts(trials[configuration]).keys() <= {"warm-up-loss"}


def test_what_it_samples_are_whole_trees_and_nothing_is_missed(tmp_path: Path) -> None:
    trial = measure_agent(tmp_path, "skywalking", ["sampling"], calls=SAMPLED_CALLS, rate=RATE)["sampling"]
    sampled(trial, SAMPLED_CALLS)


def test_a_class_of_which_no_method_is_intercepted_brings_nothing(trials: dict[str, TrialRecord]) -> None:
    ledger = trials["no-collection"].ledger
    assert ledger
    assert ledger.received == ledger.unexpected_names == 0
    assert verdicts(trials["no-collection"]) == {}


def test_the_agent_logs_into_the_folder_of_its_trial(folder: Path, trials: dict[str, TrialRecord]) -> None:
    assert len(list(folder.glob("run/trials/*/skywalking-api.log"))) == len(trials)


def test_what_a_tree_has_beyond_the_limit_is_truncated_and_not_lost(tmp_path: Path) -> None:
    trial = measure_agent(tmp_path, "skywalking", ["stock"], calls=CALLS, rate=RATE, depth=LIMIT + 10)["stock"]
    assert whole(trial, CALLS, LIMIT).truncated == 10 * CALLS
    assert verdicts(trial)["truncated"] == "note"


def test_what_it_loses_at_full_speed_without_a_word_is_silent_loss(tmp_path: Path) -> None:
    trial = measure_agent(tmp_path, "skywalking", ["stock"], calls=FULL_SPEED)["stock"]
    ledger = trial.ledger
    assert ledger
    assert 0 < ledger.received < ledger.expected == 10 * FULL_SPEED
    assert (ledger.dropped_reported, ledger.missing) == (0, ledger.expected - ledger.received)
    assert verdicts(trial)["silent-loss"] == "warning"


def test_a_java_that_it_does_not_know_ends_in_its_verdict(tmp_path: Path) -> None:
    root = root_of(tmp_path, "none", "skywalking")
    flag = '"-Dskywalking.logging.dir={trial.dir}",'
    # as it ships, the line that it logs there at its start takes the whole JVM along
    change(root, "skywalking", (flag, f'{flag} "-Dskywalking.logging.level=WARN",'))
    trials = measure_agent(tmp_path, "skywalking", ["stock", "newer-java"], calls=CALLS, rate=RATE, jdk=25, root=root)
    assert verdicts(trials["stock"])["nothing-recorded"] == "error"
    assert trials["stock"].exit_status == 0
    whole(trials["newer-java"], CALLS)
