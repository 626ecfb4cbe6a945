"""Reads a page as a program does: as XML, well-formed throughout."""

import xml.etree.ElementTree as ET
from pathlib import Path

from tracetax.report.page import write_page
from tracetax.results.findings import Findings


def parsed(page: Path) -> ET.Element:
    """The page as XML, or this fails."""
    return ET.fromstring(page.read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n"))


def written(run: Path, findings: Findings) -> ET.Element:
    """The page that is drawn from these findings in this run's folder."""
    return parsed(write_page(run, findings))


def text(element: ET.Element | None) -> str:
    """All text below an element, in single spaces."""
    assert element is not None
    return " ".join(" ".join(element.itertext()).split())


def section(page: ET.Element, key: str) -> ET.Element:
    """A section by its id."""
    found = page.find(f".//section[@aria-labelledby='{key}']")
    assert found is not None
    return found


def rows(element: ET.Element) -> list[str]:
    """The text of every row of a table's body."""
    return [text(row) for body in element.iter("tbody") for row in body.iter("tr")]
