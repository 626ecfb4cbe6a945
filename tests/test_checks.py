"""``./tracetax test`` itself, on commands and clones that the test invents."""

import sys
from pathlib import Path

import pytest

from tracetax import checks
from tracetax.checks import Check, describe, run_check, run_pytest
from tracetax.errors import UserError


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_a_command_that_ends_well_passes_and_says_nothing(tmp_path: Path) -> None:
    outcome = run_check(Check("x", tmp_path, lambda: python("print('all well')")))
    assert outcome.passed
    assert "all well" not in describe(outcome)


def test_a_failing_command_shows_what_it_found_on_both_channels(tmp_path: Path) -> None:
    code = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(1)"
    outcome = run_check(Check("x", tmp_path, lambda: python(code)))
    assert not outcome.passed
    assert "one" in describe(outcome)
    assert "two" in describe(outcome)


def test_a_failing_command_that_says_nothing_still_has_a_reason(tmp_path: Path) -> None:
    assert "status 4" in run_check(Check("x", tmp_path, lambda: python("raise SystemExit(4)"))).output


def test_a_silent_check_fails_by_speaking(tmp_path: Path) -> None:
    assert not run_check(Check("x", tmp_path, lambda: python("print('a.go')"), silent=True)).passed


def test_a_missing_tool_fails_its_check_with_a_sentence(tmp_path: Path) -> None:
    outcome = run_check(Check("x", tmp_path, lambda: ("/nonexistent/tool",)))
    assert not outcome.passed
    assert "/nonexistent/tool is not there" in outcome.output


def test_a_tool_that_cannot_be_made_fails_its_check_with_the_reason(tmp_path: Path) -> None:
    def broken() -> tuple[str, ...]:
        raise UserError("the download is corrupt")

    assert run_check(Check("x", tmp_path, broken)).output == "the download is corrupt"


def write_test(root: Path, body: str) -> None:
    (root / "test_it.py").write_text(f"def test_it():\n    {body}\n")


def test_the_last_line_of_pytest_is_held_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_test(tmp_path, "pass")
    status, summary = run_pytest(tmp_path, ())
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
    every = [Check("first", tmp_path, lambda: python(code)), Check("second", tmp_path, lambda: python(""))]
    monkeypatch.setattr(checks, "checks", lambda root, cache: iter(every))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    write_test(tmp_path, body)
    assert checks.run_checks(tmp_path, ()) == status
    shown = capfd.readouterr().out.splitlines()
    assert any(line.startswith("ok") and "second" in line for line in shown)
    assert "1 passed" in shown[-1] or "1 failed" in shown[-1]


def test_every_go_module_and_all_java_files_are_checked(tmp_path: Path) -> None:
    for name in ("sink/go.mod", "load/go.mod", "workloads/calltree/java/src/Main.java"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    names = [check.name for check in checks.checks(tmp_path, tmp_path)]
    assert names[:3] == ["ruff check", "ruff format", "pyright"]
    assert {"gofmt sink", "go vet sink", "staticcheck sink", "go test sink", "staticcheck load"} <= set(names)
    assert names[-1] == "google-java-format"
