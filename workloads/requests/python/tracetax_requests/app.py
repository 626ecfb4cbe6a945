"""The five paths of the service; gunicorn serves ``app``."""

import re

from flask import Flask, jsonify, request
from flask.typing import ResponseReturnValue
from sqlalchemy.exc import SQLAlchemyError

from tracetax_requests import worlds

MOST_QUERIES = 500

app = Flask(__name__)


@app.get("/plaintext")
def plaintext() -> ResponseReturnValue:
    """Answer with a text that never changes."""
    return "Hello, World!", {"Content-Type": "text/plain"}


@app.get("/json")
def json() -> ResponseReturnValue:
    """Answer with an object that is made anew."""
    return jsonify(message="Hello, World!")


@app.get("/db")
def db() -> ResponseReturnValue:
    """Answer with one row."""
    return jsonify(worlds.random(1)[0])


@app.get("/queries")
def queries() -> ResponseReturnValue:
    """Answer with rows, each read by itself."""
    return jsonify(worlds.random(_count()))


@app.get("/updates")
def updates() -> ResponseReturnValue:
    """Answer with rows that have got new numbers."""
    return jsonify(worlds.updated(_count()))


@app.errorhandler(SQLAlchemyError)
def database_failed(error: SQLAlchemyError) -> ResponseReturnValue:
    """Tell the log why, and the client only that."""
    app.logger.error("%s", error)
    return "the database failed\n", 500, {"Content-Type": "text/plain"}


def _count() -> int:
    """How many rows a request asks for: from 1 to 500, and 1 where it says no whole number."""
    said = request.args.get("queries", "")
    return min(max(int(said), 1), MOST_QUERIES) if re.fullmatch(r"[0-9]+", said) else 1
