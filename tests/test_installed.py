"""What an installed Tracetax does in place of the launcher."""

from pathlib import Path

import pytest

from tests.launcher.clone import write_jdk
from tracetax import installed
from tracetax.installed import launched, renamed, with_jdk, without_yes


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (["--yes", "run", "x"], (["run", "x"], True)),
        (["run", "x", "--yes"], (["run", "x"], True)),
        (["run", "x"], (["run", "x"], False)),
        (["test", "--", "--yes"], (["test", "--", "--yes"], False)),
    ],
)
def test_yes_anywhere_is_heard_and_not_passed_on(typed: list[str], kept: tuple[list[str], bool]) -> None:
    assert without_yes(typed) == kept


def test_a_callers_python_pip_and_go_settings_are_not_handed_on(tmp_path: Path) -> None:
    environment = {"PATH": "/bin", "PIP_TARGET": "/x", "GOROOT": "/y", "PIP_INDEX_URL": "mirror"}
    assert launched(environment, tmp_path, yes=False) == {
        "PATH": "/bin",
        "PIP_INDEX_URL": "mirror",
        "GOTOOLCHAIN": "local",
    }


def test_the_launcher_leaves_out_the_same_settings() -> None:
    """Said twice, in two languages: this keeps them the same."""
    lines = (Path(__file__).parents[1] / "tracetax").read_text().splitlines()
    unset = {name for line in lines if line.startswith("unset ") for name in line.split()[1:]}
    assert unset == set(installed.CALLERS_OWN)


def test_the_go_beside_python_comes_first(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    assert launched({"PATH": "/bin"}, tmp_path, yes=False)["PATH"] == f"{tmp_path}:/bin"


def test_yes_and_continuous_integration_answer_questions(tmp_path: Path) -> None:
    assert launched({}, tmp_path, yes=True)["TRACETAX_YES"] == "1"
    assert launched({"CI": "true"}, tmp_path, yes=False)["TRACETAX_YES"] == "1"
    assert "TRACETAX_YES" not in launched({"CI": ""}, tmp_path, yes=False)


def test_a_jdk_that_is_too_old_is_passed_over_for_one_on_the_path(tmp_path: Path) -> None:
    old, new = write_jdk(tmp_path / "old", "11.0.2"), write_jdk(tmp_path / "new", "21.0.4")
    chosen = with_jdk({"JAVA_HOME": str(old), "PATH": f"{new}/bin"})
    assert chosen["JAVA_HOME"] == str(new)
    assert chosen["PATH"].split(":")[0] == f"{new}/bin"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("type: ./tracetax run", "type: tracetax run"),
        ("(./tracetax list runs)", "(tracetax list runs)"),
        ("`./tracetax run --resume ./tracetax-runs/a`", "`tracetax run --resume ./tracetax-runs/a`"),
        ("../tracetax and /a/./tracetax/b", "../tracetax and /a/./tracetax/b"),
    ],
)
def test_sentences_name_the_installed_program(text: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "PROGRAM", "tracetax")
    assert renamed(text) == shown
