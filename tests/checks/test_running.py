"""``./tracetax test`` itself, on commands and clones that the test invents."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks import running
from checks.check import Check, NotHere, describe, run_check
from tracetax.errors import UserError


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_a_command_that_ends_well_passes_and_says_nothing(tmp_path: Path) -> None:
    outcome = run_check(Check("x", tmp_path, lambda: python("print('all well')")))
    assert outcome.state == "ok"
    assert "all well" not in describe(outcome)


def test_a_failing_command_shows_what_it_found_on_both_channels(tmp_path: Path) -> None:
    code = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(1)"
    outcome = run_check(Check("x", tmp_path, lambda: python(code)))
    assert outcome.state == "FAILED"
    assert "one" in describe(outcome)
    assert "two" in describe(outcome)


def test_a_failing_command_that_says_nothing_still_has_a_reason(tmp_path: Path) -> None:
    assert "status 4" in run_check(Check("x", tmp_path, lambda: python("raise SystemExit(4)"))).output


def test_a_silent_check_fails_by_speaking(tmp_path: Path) -> None:
    assert run_check(Check("x", tmp_path, lambda: python("print('a.go')"), silent=True)).state == "FAILED"


def test_a_missing_tool_fails_its_check_with_a_sentence(tmp_path: Path) -> None:
    outcome = run_check(Check("x", tmp_path, lambda: ("/nonexistent/tool",)))
    assert outcome.state == "FAILED"
    assert "/nonexistent/tool is not there" in outcome.output


def test_a_tool_that_cannot_be_made_fails_its_check_with_the_reason(tmp_path: Path) -> None:
    def broken() -> tuple[str, ...]:
        raise UserError("the download is corrupt")

    outcome = run_check(Check("x", tmp_path, broken))
    assert (outcome.state, outcome.output) == ("FAILED", "the download is corrupt")


def lacking() -> tuple[str, ...]:
    raise NotHere("This machine has no Python 3.99.")


def test_what_this_machine_lacks_is_told_and_is_no_failure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    invent(monkeypatch, Check("Python 3.99", tmp_path, lacking))
    write_test(tmp_path, "pass")
    assert running.run_checks(tmp_path, ()) == 0
    shown = capfd.readouterr().out
    assert "not run Python 3.99" in shown
    assert "This machine has no Python 3.99." in shown


def write_test(root: Path, body: str) -> None:
    (root / "test_it.py").write_text(f"def test_it():\n    {body}\n")


def invent(monkeypatch: pytest.MonkeyPatch, *every: Check) -> None:
    def checks(_root: Path, _cache: Path) -> Iterator[Check]:
        return iter(every)

    monkeypatch.setattr(running, "checks", checks)


def test_the_last_line_of_pytest_is_held_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_test(tmp_path, "pass")
    status, summary = running.run_pytest(tmp_path, ())
    assert status == 0
    assert "1 passed" in summary
    assert "1 passed" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("code", "body", "status"), [("", "pass", 0), ("raise SystemExit(1)", "pass", 1), ("", "assert 0", 1)]
)
def test_any_failure_fails_the_whole_and_pytest_has_the_last_word(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    body: str,
    status: int,
) -> None:
    first = Check("first", tmp_path, lambda: python(code))
    invent(monkeypatch, first, Check("second", tmp_path, lambda: python("")))
    write_test(tmp_path, body)
    assert running.run_checks(tmp_path, ()) == status
    shown = capfd.readouterr().out.splitlines()
    assert any(line.startswith("ok") and "second" in line for line in shown)
    assert "1 passed" in shown[-1] or "1 failed" in shown[-1]


def waits_for(file: Path) -> str:
    return f"import pathlib, time\nwhile not pathlib.Path({str(file)!r}).exists(): time.sleep(0.01)"


def test_checks_run_side_by_side_and_are_told_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "usable_cores", lambda: 2)
    meeting = tmp_path / "met"
    first = Check("first", tmp_path, lambda: python(waits_for(meeting)))
    second = Check("second", tmp_path, lambda: python(f"open({str(meeting)!r}, 'w')"))
    assert [(outcome.name, outcome.state) for outcome in running.side_by_side((first, second))] == [
        ("first", "ok"),
        ("second", "ok"),
    ]


def test_who_stops_listening_ends_what_runs_and_nothing_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "usable_cores", lambda: 1)
    never, mark = tmp_path / "never", tmp_path / "mark"
    every = [Check("quick", tmp_path, lambda: python(""))]
    every += [Check("endless", tmp_path, lambda: python(waits_for(never)))]
    every += [Check("later", tmp_path, lambda: python(f"open({str(mark)!r}, 'w')"))]
    outcomes = running.side_by_side(every)
    assert next(outcomes).name == "quick"
    outcomes.close()
    assert not mark.exists()
