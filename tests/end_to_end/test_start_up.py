"""A part of a program's methods is monitored from its start: every agent of Kieker's weaves exactly that part."""

import pytest

from tests.end_to_end.changed import repository
from tests.end_to_end.trials import measure_each
from tracetax.ledger import Ledger

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
SWITCHED_OFF = 'extends = "deactivated"\ntitle = "deactivated, start-up monitored"'
SWITCHED_ON = 'extends = "binary-tcp"\ntitle = "start-up recorded"'


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
        seen = [name for ledger in both for name, count in ledger.unexpected.items() for _ in range(count)]
        methods = [name for name in seen if "tracetax.generated.Monitored.method" in name]
        assert len(set(methods)) == len(methods) == MONITORED, seen
        assert not [name for name in seen if "Unmonitored" in name]


def test_the_calls_are_recorded_as_ever(ledgers: list[tuple[Ledger, Ledger]]) -> None:
    for _, ledger in ledgers:
        assert ledger.received == ledger.expected == CALLS * 10
