"""What a store holds and was asked: data made from a seed, statements counted by the server, rows that changed."""

import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any, LiteralString, Self, cast
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from msgspec import Struct

from tracetax.catalog.placeholders import OF_STORE, SEED, fill
from tracetax.companions.loopback import is_loopback
from tracetax.companions.store import StoreLost
from tracetax.errors import UserError
from tracetax.store import Data, Store

OWN = "/* tracetax */"
"""Stands in every statement of Tracetax itself, so that it counts for nobody."""
CONNECT_SECONDS = 10


class StatementCount(Struct, frozen=True):
    """How often a statement was run, and how many rows it returned or changed, all together."""

    calls: int = 0
    rows: int = 0


class Statements(Struct, frozen=True):
    """What a store was asked, by the statement's text with its values replaced by placeholders."""

    by_text: dict[str, StatementCount]

    @property
    def calls(self) -> int:
        """Of all statements."""
        return sum(asked.calls for asked in self.by_text.values())

    @property
    def rows(self) -> int:
        """Of all statements."""
        return sum(asked.rows for asked in self.by_text.values())

    def since(self, before: "Statements") -> "Statements":
        """What was asked after an earlier look."""
        none = StatementCount()
        found = {
            text: StatementCount(now.calls - then.calls, now.rows - then.rows)
            for text, now in self.by_text.items()
            if (then := before.by_text.get(text, none)) != now
        }
        return Statements(found)


class Database:
    """A connection of Tracetax's own to a store. Use as a context manager; it starts and removes no server."""

    def __init__(self, store: Store, url: str) -> None:
        """Connect, and make that statements can be asked for. Raises StoreLost. The store is one that runs some."""
        assert store.statements
        self.store = store
        self._count = store.statements.count
        self._place = place_of(url)
        try:
            self._connection = psycopg.connect(
                url, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="tracetax"
            )
        except psycopg.Error as error:
            raise self._lost("takes no connection", error) from error
        try:
            self._run(store.statements.begin)
        except BaseException:
            self._connection.close()
            raise

    def make(self, data: Data, seed: int) -> None:
        """Make data anew; the same seed makes the same. Raises StoreLost."""
        for statement in data.make:
            self._run(fill(statement, {SEED: str(seed)}))

    def rows(self, data: Data) -> dict[Any, tuple[Any, ...]]:
        """All rows of data, by their key. Raises StoreLost."""
        return {key: tuple(values) for key, *values in self._run(data.rows)}

    def statements(self) -> Statements:
        """What the store was asked since its start, but for what Tracetax asked itself. Raises StoreLost."""
        asked = {
            str(text): StatementCount(int(calls), int(rows))
            for text, calls, rows in self._run(self._count)
            if OWN not in str(text)
        }
        return Statements(asked)

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows that a statement returns."""
        try:
            cursor = self._connection.execute(cast(LiteralString, f"{statement.strip()} {OWN}"))
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            beginning = " ".join(statement.split())[:60]
            raise self._lost(f'fails at "{beginning}…"', error) from error

    def _lost(self, what: str, error: psycopg.Error) -> StoreLost:
        return StoreLost(f"the store {self.store.name} at {self._place} {what}: {str(error).strip()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def changed(before: Mapping[Any, tuple[Any, ...]], after: Mapping[Any, tuple[Any, ...]]) -> int:
    """How many rows are new, gone, or not as they were."""
    return sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())


def existing(store: Store, url: str) -> str:
    """The address of a database of the user's own in a store, which is neither started nor removed.

    Raises UserError where it does not lie on this machine: over a network, its distance would be measured.
    """
    values = {name: name.rpartition(".")[2].upper() for name in OF_STORE}
    way_out = f"Give one such as: {fill(store.url, values)}"
    try:
        said = urlsplit(url)
        hosts = [said.hostname or "", *parse_qs(said.query).get("host", ()), *parse_qs(said.query).get("hostaddr", ())]
        _ = said.port
    except ValueError as error:
        raise UserError(
            f"{place_of(url) or 'An empty text'} is no address of a database ({error}).\n{way_out}"
        ) from error
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*", said.scheme) or not said.netloc:
        raise UserError(f"{place_of(url) or 'An empty text'} is no address of a database.\n{way_out}")
    for host in map(unquote, hosts):
        if not is_loopback(host):
            what = f"lies on {host}" if host else "names no host"
            raise UserError(
                f"The database {place_of(url)} {what}: only one on this machine is measured, by a loopback address.\n"
                f"{way_out}"
            )
    return url


def place_of(url: str) -> str:
    """Host, port and name of a database, without who may use it, and how."""
    return url.rpartition("@")[2].rpartition("//")[2].partition("?")[0]
