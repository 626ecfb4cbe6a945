"""``compare`` as it is typed, and the gate ``--fail-if`` with its exit status."""

import json
from pathlib import Path

import pytest

from tests.analysis.test_builds import findings as findings_of_builds
from tests.analysis.test_builds import trials
from tests.analysis.test_compare import run
from tests.end_to_end.command import tracetax
from tracetax.commands.compare import compare, limit, slower_builds
from tracetax.errors import ExitCode, UserError


def test_differences_come_first_then_rows_and_the_status_is_that_of_the_gate(tmp_path: Path) -> None:
    run(tmp_path / "a", 1000)
    run(tmp_path / "b", 1100, blocks=12, base=110.0)
    paths = (str(tmp_path / "a"), str(tmp_path / "b"))
    status, shown = tracetax("compare", *paths)
    assert status == ExitCode.OK
    assert shown.index("blocks of p") < shown.index("overhead per invocation") < shown.index("no pairs")
    assert "without an agent a call took 10 % longer in the second run" in " ".join(shown.split())
    status, shown = tracetax("compare", *paths, "--fail-if", "slower by 5 %")
    assert status == ExitCode.SLOWER
    assert "Slower by more than 5 %, by the whole interval: P: Fake flat." in shown
    assert tracetax("compare", *paths, "--fail-if", "slower by 50%")[0] == ExitCode.OK


def test_for_programs_and_for_pull_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "a", 1000)
    run(tmp_path / "b", 1100)
    assert compare(tmp_path / "a", tmp_path / "b", as_json=True, fail_if="slower") == ExitCode.SLOWER
    assert json.loads(capsys.readouterr().out)["rows"][0]["changes"][0]["verdict"] == "more"
    compare(tmp_path / "a", tmp_path / "b", markdown=True)
    assert "| Fake flat | overhead per invocation | 300.0 ± " in capsys.readouterr().out


def test_a_run_is_not_compared_with_itself_and_other_words_are_no_gate(tmp_path: Path) -> None:
    run(tmp_path / "a", 1000)
    with pytest.raises(UserError, match="are the same run"):
        compare(tmp_path / "a", tmp_path / "a")
    with pytest.raises(UserError, match='there is "slower"'):
        limit("faster")
    assert (limit(None), limit("slower"), limit("slower by 2.5 %")) == (None, 0.0, 0.025)


def test_a_run_without_builds_has_no_gate() -> None:
    status, shown = tracetax("run", "--dry-run", "--fail-if", "slower")
    assert status == ExitCode.USAGE
    assert "--artifact AGENT.ARTIFACT=OLD,NEW" in shown


@pytest.mark.parametrize(
    ("ratio", "wobble", "by", "fails"),
    [
        (1.021, 0.01, 0.0, True),  # 1.4 % to 2.8 %
        (1.021, 0.01, 0.01, True),
        (1.021, 0.01, 0.02, False),  # the interval is not wholly beyond
        (1.01, 0.1, 0.0, False),  # undecided
        (0.9, 0.01, 0.0, False),
    ],
)
def test_the_gate_of_two_builds_follows_the_whole_interval(
    tmp_path: Path, ratio: float, wobble: float, by: float, fails: bool
) -> None:
    found = findings_of_builds(tmp_path, trials(ratio, wobble)).comparisons
    assert bool(slower_builds(found, by)) == fails
