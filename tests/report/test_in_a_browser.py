"""The page as a browser lays it out: on a phone nothing scrolls sideways, and what is folded takes no room."""

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tracetax.report.page import write_page

from .fake_run import fake_run
from .sample_findings import sample_findings

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--virtual-time-budget=2000", "--window-size=1600,1200"),
)
LOOK = """<!doctype html><meta charset="utf-8"><iframe id="page" width="{width}" height="900" srcdoc="{page}"></iframe>
<script>addEventListener("load", () => {{
  const page = document.getElementById("page").contentDocument, sizes = () => [
    page.scrollingElement.scrollWidth, page.scrollingElement.scrollHeight]
  const folded = sizes()
  page.querySelectorAll("details").forEach(one => one.open = true)
  document.title = [...folded, ...sizes()].join(" ")
}})</script>"""


@pytest.mark.slow
@pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_scrolls_sideways_folded_or_open(tmp_path: Path, width: int) -> None:
    run = tmp_path / "2026-11-20-quick-7f3a"
    fake_run(run)
    page = write_page(run, sample_findings()).read_text(encoding="utf-8")
    look = tmp_path / "look.html"
    look.write_text(LOOK.format(width=width, page=html.escape(page)), encoding="utf-8")
    command = (str(BROWSER), *QUIET, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", look.as_uri())
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=True)
    found = re.search(rb"<title>(\d+) (\d+) (\d+) (\d+)", done.stdout)
    assert found, done.stdout[:500]
    folded_width, folded_height, open_width, open_height = map(int, found.groups())
    assert folded_width <= width
    assert open_width <= width
    assert folded_height < open_height / 4
