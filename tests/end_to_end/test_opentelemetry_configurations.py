"""The configurations of OpenTelemetry's agent that promise no record of each call."""

import re
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.end_to_end.trials import measure_agent, verdicts
from tracetax.results.records import TrialRecord

pytestmark = pytest.mark.real
CALLS = 500
SILENT = ("agent-off", "sdk-disabled", "logging")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("opentelemetry")
    yield folder
    shutil.rmtree(folder)  # the log of all spans has 200 MB and more


@pytest.fixture(scope="module")
def trials(folder: Path) -> dict[str, TrialRecord]:
    return measure_agent(folder, "opentelemetry", [*SILENT, "otlp-sampled"], calls=CALLS)


@pytest.mark.parametrize("name", SILENT)
def test_what_is_switched_off_or_written_to_the_log_sends_nothing(trials: dict[str, TrialRecord], name: str) -> None:
    assert (trials[name].status, verdicts(trials[name])) == ("ok", {})


def test_a_span_that_is_logged_is_a_line_with_the_methods_name(trials: dict[str, TrialRecord], folder: Path) -> None:
    trial = trials["logging"]
    log = (folder / "run" / "logs" / f"{trial.number:04d}" / "stderr.txt").read_text(errors="replace")
    assert trial.warm_up
    left_out = re.search(r"\n… ([\d,]+) bytes are left out here …\n", log)
    assert left_out  # of a long log, the first and the last MiB are kept
    lines = [line for line in log.splitlines() if "'MonitoredClass.monitoredMethod'" in line]
    length = sum(map(len, lines)) / len(lines)
    logged = len(lines) + int(left_out[1].replace(",", "")) / (length + 1)
    assert logged == pytest.approx((trial.warm_up.calls + CALLS) * 10, rel=0.1)


def test_a_tenth_arrives_of_what_is_sampled_at_ten_per_cent(trials: dict[str, TrialRecord]) -> None:
    trial = trials["otlp-sampled"]
    assert trial.ledger and trial.warm_up
    both = (trial.ledger, trial.warm_up.ledger)
    recorded = sum(ledger.received + ledger.dropped_reported for ledger in both)
    made = sum(ledger.made for ledger in both)
    share = recorded / made
    calls = made / 10  # each is sampled as a whole: five standard deviations of a share of 0.1
    assert share == pytest.approx(0.1, abs=5 * (0.1 * 0.9 / calls) ** 0.5)
    assert sum(ledger.complete_trees for ledger in both) > 0
    assert (trial.status, trial.ledger.expected, trial.ledger.duplicates) == ("ok", 0, 0)
