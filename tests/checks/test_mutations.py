"""The deliberate errors of benchmarks/mutations.py: each can still be made, so that its row cannot silently vanish."""

import runpy
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "mutations.py"))
MUTANTS, PACKAGE, TESTS = (SCRIPT[name] for name in ("MUTANTS", "PACKAGE", "TESTS"))


def test_every_deliberate_error_finds_its_place_in_the_source() -> None:
    lost = [
        f"{error.file}: {error.what}" for error in MUTANTS if (PACKAGE / error.file).read_text().count(error.right) != 1
    ]
    assert not lost


def test_every_deliberate_error_names_tests_that_exist() -> None:
    assert all((TESTS / name).exists() for error in MUTANTS for name in error.tests)
