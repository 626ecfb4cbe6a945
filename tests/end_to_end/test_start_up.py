"""A part of a program's methods is monitored from its start: every technology of Kieker's weaves exactly that part,
while classes are loaded or in a build."""

from pathlib import Path

import pytest

from tests.end_to_end.changed import repository
from tests.end_to_end.command import ROOT
from tests.end_to_end.trials import measure_each
from tracetax.ledger import Ledger
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
MONITORED = 7
CALLS = 200
EXPERIMENT = f"""
title = "Start-up"
workload = "calltree/java"
result = false
[parameters]
calls = {CALLS}
depth = 10
start_up_methods = 20
start_up_monitored = {MONITORED}
[jvm]
heap = "128 MiB"
[[configurations]]
agent = "kieker"
use = ["start-up"]
technologies = ["aspectj-load-time", "bytebuddy-load-time", "javassist-load-time"]
"""
BUILT = "start_up_built = true"
WOVEN = """
[[configurations]]
agent = "none"
use = ["empty-agent"]
[[configurations]]
agent = "kieker"
use = ["deactivated"]
[[configurations]]
agent = "kieker"
use = ["binary-tcp"]
technologies = ["aspectj-compile-time", "bytebuddy-build-time", "javassist-build-time", "source"]
"""
SWITCHED_OFF = 'extends = "deactivated"\ntitle = "deactivated, start-up monitored"'
SWITCHED_ON = 'extends = "binary-tcp"\ntitle = "start-up recorded"'


def methods_seen(*ledgers: Ledger) -> set[str]:
    """The methods of the start that were recorded; each was once, and none that is not monitored."""
    seen = [name for ledger in ledgers for name, count in ledger.unexpected.items() for _ in range(count)]
    methods = [name for name in seen if "tracetax.generated.Monitored.method" in name]
    assert len(set(methods)) == len(methods), seen
    assert not [name for name in seen if "Unmonitored" in name]
    return set(methods)


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Ledger, Ledger]]:
    """Of warm-up and measured calls, by technology; the start belongs to the warm-up."""
    folder = tmp_path_factory.mktemp("start-up")
    experiment = folder / "start-up.toml"
    experiment.write_text(EXPERIMENT)
    trials = measure_each(experiment, repository(folder, SWITCHED_OFF, SWITCHED_ON), folder / "run").values()
    return [(trial.warm_up.ledger, trial.ledger) for trial in trials if trial.warm_up and trial.ledger]


def test_each_monitored_method_of_the_start_is_recorded_once_and_no_other(
    ledgers: list[tuple[Ledger, Ledger]],
) -> None:
    assert len(ledgers) == 3
    for both in ledgers:
        assert len(methods_seen(*both)) == MONITORED


def test_the_calls_are_recorded_as_ever(ledgers: list[tuple[Ledger, Ledger]]) -> None:
    for _, ledger in ledgers:
        assert ledger.received == ledger.expected == CALLS * 10


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    """Trials that built their program themselves, by configuration."""
    folder = tmp_path_factory.mktemp("built")
    experiment = folder / "built.toml"
    experiment.write_text(EXPERIMENT.partition("[[configurations]]")[0].replace("[jvm]", f"{BUILT}\n[jvm]") + WOVEN)
    return measure_each(experiment, ROOT, folder / "run")


@pytest.mark.parametrize(
    "technology", ["aspectj-compile-time", "bytebuddy-build-time", "javassist-build-time", "source"]
)
def test_a_build_in_a_trial_weaves_exactly_the_monitored_methods_and_is_timed(
    built: dict[str, TrialRecord], technology: str
) -> None:
    trial = built[f"binary-tcp:{technology}"]
    assert trial.status == "ok", trial.verdicts
    assert trial.warm_up and trial.ledger and trial.building
    assert len(methods_seen(trial.warm_up.ledger, trial.ledger)) == MONITORED
    assert trial.ledger.received == trial.ledger.expected == CALLS * 10
    assert min(trial.building.wall_ns, trial.building.cpu_ns) > 0
    assert len(trial.building.commands) == 2


@pytest.mark.parametrize("name", ["empty-agent", "deactivated"])
def test_what_is_not_woven_before_a_run_is_only_compiled(built: dict[str, TrialRecord], name: str) -> None:
    trial = built[name]
    assert trial.status == "ok", trial.verdicts
    assert trial.building and [Path(command[0]).name for command in trial.building.commands] == ["javac"]


def test_nothing_of_a_build_is_left(built: dict[str, TrialRecord]) -> None:
    classes = {word for trial in built.values() for word in ":".join(trial.command).split(":") if "/program/" in word}
    assert classes and not any(Path(path).exists() for path in classes)
