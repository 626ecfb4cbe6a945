"""A load of the user's own as it is typed."""

from pathlib import Path

import pytest

from tracetax.catalog.own.load import load_of
from tracetax.catalog.reading import COMMAND_LINE, Report


@pytest.fixture
def oha(tmp_path: Path) -> str:
    program = tmp_path / "oha"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program)


def problems(typed: str, requests: int = 1) -> list[str]:
    report = Report(COMMAND_LINE)
    load_of(typed, requests, report)
    assert {problem.key for problem in report.problems} <= {"--load"}
    return [problem.text for problem in report.problems]


def test_its_words_keep_their_placeholders(oha: str) -> None:
    report = Report(COMMAND_LINE)
    assert load_of(f"{oha} -q {{rate}} -H 'a: b' {{url}}", 1, report) == (oha, "-q", "{rate}", "-H", "a: b", "{url}")
    assert not report.problems
    assert load_of(None, 7, report) == ()


def test_every_mistake_is_told(oha: str) -> None:
    assert problems("wrk {url}") == ["must begin with k6 or oha: what others send cannot be read"]
    assert problems("") == ["must begin with k6 or oha: what others send cannot be read"]
    assert problems("/no/where/k6 run") == ['there is no program "/no/where/k6"']
    assert "cannot be split" in problems("oha '")[0]
    assert "--requests names several" in problems(f"{oha} {{url}}", requests=2)[0]
    assert 'no placeholder "{urls}"' in problems(f"{oha} {{urls}}")[0]
