"""``check-agent`` as a developer of an agent's file types it: a right file, and one whose pattern is wrong."""

import re
import shutil
from pathlib import Path

from tests.end_to_end.command import ROOT, tracetax


def test_a_right_file_and_a_wrong_pattern_in_a_folder_of_ones_own(tmp_path: Path) -> None:
    status, right = tracetax("check-agent", "kieker", "--out", str(tmp_path / "right"))
    assert status == 0, right
    assert len(re.findall(r"^✓ ", right, re.MULTILINE)) == 7
    assert "10,000 of 10,000 records" in right

    mine = shutil.copytree(ROOT / "agents" / "kieker", tmp_path / "agents" / "mine")
    text = (mine / "java" / "agent.toml").read_text(encoding="utf-8")
    assert '"* {monitored.class}.*();"' in text
    wrong_pattern = text.replace('"* {monitored.class}.*();"', '"* org.example.Elsewhere.*();"')
    (mine / "java" / "agent.toml").write_text(wrong_pattern, encoding="utf-8")
    status, wrong = tracetax(
        "check-agent", "mine", "binary-tcp", "--agents-dir", str(tmp_path / "agents"), "--out", str(tmp_path / "wrong")
    )
    assert status == 1, wrong
    assert re.search(r"^✗ woven +nothing arrived by kieker-tcp", wrong, re.MULTILINE)
    assert "the pattern right" in " ".join(wrong.split())
