"""No number, no command line and no output changes unnoticed: each is compared, byte for byte, with a stored one."""

import re
from pathlib import Path

import pytest

from tests.goldens.launches import ROOT
from tests.goldens.outputs import by_element, groups, rounded, typed
from tests.goldens.stored import EXPECTED, differences, store, stored

WAY_OUT = "Is the change meant? Then write the goldens anew (scripts/goldens), and declare it in CHANGELOG.md."


@pytest.mark.parametrize("group", groups())
def test_what_is_made_now_is_what_is_stored(group: str, tmp_path: Path) -> None:
    different = differences(stored(group), groups()[group](tmp_path))
    if different:
        pytest.fail("\n".join((f"{EXPECTED.relative_to(ROOT)}/{group}", *different, WAY_OUT)), pytrace=False)


def test_every_stored_group_is_made() -> None:
    assert {path.name for path in EXPECTED.iterdir()} == set(groups())


def test_the_stored_runs_name_no_folder_of_the_machine_that_made_them() -> None:
    for file in (EXPECTED.parent / "runs").rglob("*.json"):
        strange = re.search(r"(?<![\w.])/(root|work|tmp)/", file.read_text(encoding="utf-8"))
        assert not strange, f"{file}: {strange}"


def test_a_difference_names_the_file_and_shows_the_first_lines_that_differ() -> None:
    long = "x" * 300
    expected = {"a.txt": f"same\n{long}1.25 ns\nlast\n", "gone.txt": "", "same.txt": "1"}
    made = {"a.txt": f"same\n{long}1.26 ns\nlast\n", "new.txt": "", "same.txt": "1"}
    gone, new, changed = differences(expected, made)
    assert (gone, new) == ("gone.txt: is not made any more", "new.txt: is made, and is no golden yet")
    assert changed.startswith("a.txt: - golden, + now\n  line 2\n")
    assert "1.25 ns" in changed and "1.26 ns" in changed
    assert max(map(len, changed.splitlines())) < 200


def test_lines_that_came_or_went_and_those_that_look_like_a_diff_are_shown() -> None:
    (changed,) = differences({"a": "--depth\n10\n"}, {"a": "--depth\n"})
    assert changed.splitlines()[1:] == ["  line 2", "    --depth", "  - 10"]
    (changed,) = differences({"a": "--depth\n"}, {"a": "--width\n"})
    assert changed.splitlines()[1:] == ["  line 1", "  - --depth", "  + --width"]


def test_of_many_goldens_that_differ_the_later_ones_are_only_named() -> None:
    names = [f"{place}.txt" for place in range(9)]
    *shown, others = differences(dict.fromkeys(names, "1\n"), dict.fromkeys(names, "2\n"))
    assert len(shown) == 5
    assert others == "and 5.txt, 6.txt, 7.txt, 8.txt"


def test_what_is_stored_is_read_back_and_a_change_is_told(tmp_path: Path) -> None:
    assert store("g", {"a/b.txt": "1\r\n", "c.txt": "ü"}, tmp_path) == ["g/a/b.txt", "g/c.txt"]
    assert stored("g", tmp_path) == {"a/b.txt": "1\r\n", "c.txt": "ü"}
    assert store("g", {"a/b.txt": "1\r\n", "d.txt": ""}, tmp_path) == ["g/c.txt", "g/d.txt"]


def test_only_digits_that_depend_on_the_processor_are_rounded() -> None:
    assert rounded("0.12345678901234, 17.0.15, 1.5e-07, 2048000") == "0.123456789, 17.0.15, 1.5e-07, 2048000"
    assert rounded("999.99999999999989") == rounded("1000.0") == "1000.0"


def test_the_page_is_stored_by_element_and_a_long_curve_as_its_checksum() -> None:
    assert by_element("<p><b>1</b></p>") == "<p>\n<b>1</b>\n</p>"
    one, two = (by_element(f'<path d="M0 {end}{"l1 1" * 100}"/>') for end in "12")
    assert one != two and len(one) < 80
    assert by_element('<path d="M0 1"/>') == '<path d="M0 1"/>'


def test_a_mistake_is_printed_with_its_exit_status() -> None:
    assert typed("report", "nowhere").endswith("(exit status 2)\n")
