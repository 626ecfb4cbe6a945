"""The table ``world``. A request has one connection."""

import os
import random as chance
from collections.abc import Sequence

from sqlalchemy import Connection, create_engine, make_url, text

SELECT = text("SELECT id, randomnumber FROM world WHERE id = :id")
UPDATE = text("UPDATE world SET randomnumber = :number WHERE id = :id")
ROWS = 10_000

reading = create_engine(
    make_url(os.environ["DATABASE_URL"]).set(drivername="postgresql+psycopg"),
    isolation_level="AUTOCOMMIT",
    pool_size=int(os.environ.get("POOL", "10")),
    max_overflow=0,
    pool_timeout=5,
)
writing = reading.execution_options(isolation_level="READ COMMITTED")
"""The same pool, in transactions."""


def random(count: int) -> Sequence[dict[str, int]]:
    """Read one row after the other, by random ids."""
    with reading.connect() as connection:
        return _read(connection, count)


def updated(count: int) -> Sequence[dict[str, int]]:
    """Read rows by random ids and write a new number into each, in one transaction.

    Rows are written in the order of their ids, so that transactions do not wait for each other in a circle.
    """
    with writing.begin() as connection:
        rows = sorted(_read(connection, count), key=lambda row: row["id"])
        for row in rows:
            row["randomNumber"] = _random_number()
            connection.execute(UPDATE, {"number": row["randomNumber"], "id": row["id"]})
    return rows


def _read(connection: Connection, count: int) -> list[dict[str, int]]:
    rows = (connection.execute(SELECT, {"id": _random_number()}).one() for _ in range(count))
    return [{"id": row.id, "randomNumber": row.randomnumber} for row in rows]


def _random_number() -> int:
    """Give an id, or a number for a row: both are from 1 to 10,000."""
    return chance.randint(1, ROWS)
