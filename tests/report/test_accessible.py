"""What keyboard, screen reader, print and a small disk need."""

import re
import xml.etree.ElementTree as ET
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from tracetax.report.page import write_page

from .fake_run import fake_run
from .reading import text, written
from .sample_findings import many_samples, sample_findings
from .variants import with_published

STYLE = files("tracetax.report.page").joinpath("style.css").read_text(encoding="utf-8")
TEXT_COLOURS = ("ink", "muted", "link", "error", "best")
MARK_COLOURS = ("accent", "other", "still", "agent", "jit", "gc", "rest", "received", "dropped", "silent")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> ET.Element:
    folder = tmp_path_factory.mktemp("runs") / "run"
    fake_run(folder, blocks=2)
    return written(folder, with_published(sample_findings()))


def colours(scheme: str) -> dict[str, str]:
    """The colours of a scheme; the dark one is the second block of definitions."""
    block = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[("light", "dark").index(scheme)]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", block))


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2) of ``#rgb`` or ``#rrggbb``."""
    digits = colour[1:] if len(colour) == 7 else "".join(letter * 2 for letter in colour[1:])
    channels = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["ground", "soft"])
@pytest.mark.parametrize("name", TEXT_COLOURS)
def test_text_can_be_read_in_both_schemes(scheme: str, ground: str, name: str) -> None:
    found = colours(scheme)
    assert contrast(found[name], found[ground]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MARK_COLOURS)
def test_marks_stand_out_from_the_ground_in_both_schemes(scheme: str, name: str) -> None:
    found = colours(scheme)
    assert contrast(found[name], found["ground"]) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["accent-bar", "other-bar", "still-bar", "edge"])
def test_intervals_and_the_ends_of_the_band_stand_out_from_ground_and_band(scheme: str, name: str) -> None:
    found = colours(scheme)
    assert contrast(found[name], found["ground"]) >= 3
    assert contrast(found[name], found["band"]) >= 3


def test_nothing_is_paled_so_that_its_contrast_is_that_of_its_colour() -> None:
    assert "opacity" not in STYLE
    assert "fill: var(--bar)" in STYLE[STYLE.index(".interval {") :].split("}")[0]


def test_what_only_a_screen_reader_sees_never_widens_the_page_on_a_phone() -> None:
    phone = STYLE[STYLE.index("@media screen and (max-width: 68rem)") :]
    widened = [line for line in phone.splitlines() if re.search(r"\.forest caption(?!\.|:not)", line)]
    assert widened == []


def test_the_keyboard_gets_to_the_numbers_with_one_key(page: ET.Element) -> None:
    first = page.findall("body/*")[0]
    assert (first.tag, first.get("href")) == ("a", "#numbers")
    assert page.find(".//main[@id='numbers']") is not None


def test_the_landmarks_are_there_once(page: ET.Element) -> None:
    for name in ("header", "nav", "main", "footer"):
        assert len(page.findall(f".//{name}")) == 1
    assert len(page.findall(".//h1")) == 1


def test_headings_never_skip_a_level(page: ET.Element) -> None:
    levels = [int(element.tag[1]) for element in page.iter() if re.fullmatch(r"h[1-6]", element.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_table_says_what_it_is_and_every_head_what_it_heads(page: ET.Element) -> None:
    for table in page.iter("table"):
        assert text(table.find("caption"))
        assert all(cell.get("scope") for cell in table.iter("th"))


def test_ids_are_unique_and_every_label_points_at_one(page: ET.Element) -> None:
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert {element.get("aria-labelledby") for element in page.iter()} - {None} <= set(ids)


def test_nothing_moves_the_order_in_which_the_keyboard_goes(page: ET.Element) -> None:
    assert {element.get("tabindex") for element in page.iter()} <= {None, "0", "-1"}


def test_paper_gets_what_is_folded_and_no_dark_ground() -> None:
    paper = STYLE[STYLE.index("@media print") :]
    assert "details::details-content" in paper
    assert "content-visibility: visible" in paper
    assert "break-inside: avoid" in paper
    assert re.search(r"@media screen and \(prefers-color-scheme: dark\)", STYLE)


@pytest.mark.slow
def test_twenty_five_configurations_in_three_parts_and_thirty_blocks_fit_into_three_megabytes(tmp_path: Path) -> None:
    samples = many_samples(25)
    findings = fake_run(tmp_path / "run", blocks=30, samples=samples)
    assert write_page(tmp_path / "run", findings).stat().st_size < 3_000_000
