"""What ``check-agent`` quotes from a trial's logs."""

from pathlib import Path

from tracetax.commands.check_agent import COMPLAINT_LENGTH, last_complaint


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
