"""What ``check-agent`` quotes from a trial's logs, and what it prints of an agent's checksums."""

import tomllib
from pathlib import Path

import pytest

from tests.run.stand_ins import ROOT
from tracetax.commands import check_agent
from tracetax.commands.check_agent import COMPLAINT_LENGTH, check_command, last_complaint, pin_command
from tracetax.commands.request import CheckRequest
from tracetax.errors import UserError


def test_the_last_line_that_warns_is_quoted_from_its_severity_on(tmp_path: Path) -> None:
    (tmp_path / "stderr.txt").write_text("[agent 12:00] WARN one\n[agent 12:01] ERROR two\n[agent 12:02] INFO three\n")
    (tmp_path / "stdout.txt").write_text("WARNINGS are not what is meant\n")
    assert last_complaint(tmp_path) == "ERROR two"


def test_without_logs_or_warnings_nothing_is_quoted(tmp_path: Path) -> None:
    assert last_complaint(tmp_path) == ""
    (tmp_path / "stdout.txt").write_bytes(b"\xff\xfe fine\n")
    assert last_complaint(tmp_path) == ""


def test_a_long_line_is_cut(tmp_path: Path) -> None:
    (tmp_path / "stderr.txt").write_text(f"SEVERE {'x' * 1000}\n")
    assert len(last_complaint(tmp_path)) == COMPLAINT_LENGTH


def test_checksums_are_printed_as_toml_to_paste_and_nothing_beside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pins = {"agent": "ab" * 32, "plugin": "cd" * 32}

    def missing(_agent: object, _cache: object, say: object) -> dict[str, str]:
        assert callable(say)
        say("Fetched one file")
        return pins

    monkeypatch.setattr(check_agent, "missing_pins", missing)
    assert pin_command("skywalking", ROOT, ()) == 0
    printed = capsys.readouterr()
    assert tomllib.loads(printed.out) == {"artifacts": {name: {"sha256": sha256} for name, sha256 in pins.items()}}
    assert "Fetched one file" in printed.err
    assert "Compare them with what the project publishes" in printed.err


@pytest.mark.parametrize(
    ("workload", "typed", "told"),
    [
        ("functions/node", {"function": "uploadr"}, '--function uploadr: functions/node has .*Did you mean "uploader"'),
        ("functions/node", {"host": "fission"}, "functions/node has aws-lambda and functions-framework"),
        ("requests/go", {"function": "uploader"}, "requests/go has none"),
    ],
)
def test_a_function_or_host_that_is_not_there_is_refused(workload: str, typed: dict[str, str], told: str) -> None:
    request = CheckRequest(agent="opentelemetry", workload=workload, **typed)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match=told):
        check_command(request, ROOT, ("check-agent",))


def test_an_agent_whose_files_are_pinned_prints_no_toml(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> dict[str, str]:
        return {}

    monkeypatch.setattr(check_agent, "missing_pins", missing)
    assert pin_command("kieker", ROOT, ()) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "Everything is pinned.\n")


def test_the_checksums_of_an_agent_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="nobody"):
        pin_command("nobody", ROOT, ())
    assert capsys.readouterr().out == ""
