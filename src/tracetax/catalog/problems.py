"""Gathers what is wrong with files, so that a reader learns of everything at once."""

from collections.abc import Iterable

from msgspec import Struct

from tracetax.errors import UserError

COMMAND_LINE = "the command line"
"""What stands in a report in place of a file where options were typed."""


class Problem(Struct, frozen=True):
    """One thing that is wrong in a file, and how to mend it."""

    key: str
    """Path of the key, for example ``configurations[1].use[0]``; ``line 3`` for an error of syntax."""
    text: str


class Report:
    """The problems of one file, in the order in which they were found.

    There is at most one per key: what follows from a value that is already known to be wrong is no news.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._settled: set[str] = set()
        self._renamed: dict[str, str] = {}

    def rename(self, table: str, name: str) -> None:
        """From now on, tell what is wrong in a table under the name that this file has for it."""
        self._renamed[table] = name

    def _named(self, key: str) -> str:
        tables = (table for table in self._renamed if _is_in(key, table))
        return next((self._renamed[table] + key[len(table) :] for table in tables), key)

    def add(self, key: str, text: str) -> None:
        """Add a problem, unless there is one for the key or for a table that it is in."""
        key = self._named(key)
        if not any(_is_in(key, found) for found in self._settled):
            self._settled.add(key)
            self.problems.append(Problem(key, text))

    def excuse(self, key: str) -> None:
        """Let no further problem be added for a key: another problem explains it."""
        self._settled.add(self._named(key))

    def concerns(self, key: str) -> bool:
        """Whether there is a problem at the key, below it, or in a table that it is in."""
        key = self._named(key)
        return any(_is_in(found, key) or _is_in(key, found) for found in self._settled)


class CatalogError(UserError):
    """Files that cannot be used, with all their problems."""

    def __init__(self, reports: Iterable[Report]) -> None:
        self.reports = tuple(report for report in reports if report.problems)
        super().__init__("\n".join(_lines(report) for report in self.reports))


def raise_problems(*reports: Report) -> None:
    """Raise CatalogError if there is a problem in any of the files."""
    if any(report.problems for report in reports):
        raise CatalogError(reports)


def join(path: str, key: str) -> str:
    """The path of a key inside the table at ``path``; a key that TOML would quote is quoted."""
    bare = key.replace("-", "").replace("_", "")
    name = key if bare.isascii() and bare.isalnum() else f'"{key}"'
    return f"{path}.{name}" if path else name


def _lines(report: Report) -> str:
    count = len(report.problems)
    head = f"{report.file} has {count} problem{'' if count == 1 else 's'}:"
    return "\n".join([head, *(f"  {problem.key}: {problem.text}" for problem in report.problems)])


def _is_in(key: str, table: str) -> bool:
    return key == table or key.startswith((table + ".", table + "["))
