"""What an HTTP service in any language answers, what it asks the database, and how it ends: the services' contract."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from msgspec import Struct

from tests.companions import stores
from tracetax.artifacts import build_workload, cache_dir
from tracetax.catalog.placeholders import fill
from tracetax.catalog.workload_file import load_workload
from tracetax.companions.database import OWN, Database, Statements
from tracetax.companions.store import StoreServer
from tracetax.machine.toolchain import find_interpreter

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "workloads/requests"
LANGUAGES = sorted(path.parent.name for path in FOLDER.glob("*/workload.toml"))
LIMIT_S = 60
POOL = 3
SELECT = "SELECT id, randomnumber FROM world WHERE id = $1"
UPDATE = "UPDATE world SET randomnumber = $1 WHERE id = $2"
COUNTS = {
    "": 1,
    "?queries": 1,
    "?queries=": 1,
    "?queries=foo": 1,
    "?queries=1.5": 1,
    "?queries=-3": 1,
    "?queries=0": 1,
    "?queries=0x10": 1,
    "?queries=1_0": 1,
    "?queries=%205": 1,
    "?queries=%D9%A3": 1,
    "?queries=1": 1,
    "?queries=2": 2,
    "?queries=500": 500,
    "?queries=501": 500,
    "?queries=99999999999999999999": 500,
    "?other=7&queries=3": 3,
}
"""Rows in the answer by what a request says: what is no whole number counts as one, more than 500 as 500."""
IDLE_S = 6
"""Longer than Node and gunicorn keep a connection of themselves."""
FEW = 5
MANY = 20

pytestmark = pytest.mark.slow


class World:
    """A real PostgreSQL with the table of 10,000 rows, asked from beside."""

    def __init__(self, store: StoreServer) -> None:
        self.url = store.url
        self._store = store.store
        self._data = self._store.data["world"]
        with self._database() as database:
            database.make(self._data, seed=1)

    def ask(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """The rows that a statement gives."""
        url: Any = self.url.removesuffix("postgres") + database
        said: Any = f"{sql} {OWN}"
        with psycopg.connect(url, autocommit=True) as connection:
            answer = connection.execute(said)
            return answer.fetchall() if answer.description else []

    def rows(self) -> dict[int, int]:
        """The numbers of the table by id."""
        with self._database() as database:
            return {key: number for key, (number,) in database.rows(self._data).items()}

    def statements(self) -> Statements:
        """What services have asked so far."""
        with self._database() as database:
            return database.statements()

    @contextmanager
    def lost(self) -> Generator[None]:
        """Nobody is connected, and nobody can connect."""
        self.ask("ALTER DATABASE postgres ALLOW_CONNECTIONS false", "template1")
        self.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'", "template1")
        try:
            yield
        finally:
            self.ask("ALTER DATABASE postgres ALLOW_CONNECTIONS true", "template1")

    def _database(self) -> Database:
        return Database(self._store, self.url)


class Answer(Struct, frozen=True):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def type(self) -> str:
        return self.headers["content-type"].partition(";")[0]


class Service:
    """A running service."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self.log = log

    def get(self, path: str) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            return self.get_on(connection, path)
        finally:
            connection.close()

    def get_on(self, connection: HTTPConnection, path: str) -> Answer:
        connection.request("GET", path)
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read().decode())

    def rows(self, path: str) -> list[dict[str, int]]:
        """The rows that a path answers with, each of which is as it must be."""
        answer = self.get(path)
        assert (answer.status, answer.type) == (200, "application/json"), answer.body
        rows = json.loads(answer.body)
        for row in rows:
            assert_row(row)
        return rows

    def await_ready(self) -> None:
        deadline = time.monotonic() + LIMIT_S
        while True:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            try:
                assert self.get("/json").status == 200
                return
            except ConnectionError:
                time.sleep(0.02)


def assert_row(row: Any) -> None:
    assert row.keys() == {"id", "randomNumber"}
    for value in row.values():
        assert type(value) is int
        assert 1 <= value <= 10_000


class Program:
    """A service in one language, built as the house builds it."""

    def __init__(self, language: str) -> None:
        self.workload, runtime = load_workload(f"requests/{language}", ROOT)
        interpreter = find_interpreter(runtime, os.environ)
        if runtime.find and interpreter is None:
            pytest.skip(f"needs {runtime.noun}")
        self.built = build_workload(ROOT, self.workload, cache_dir(os.environ), interpreter=interpreter)
        self._values = {
            "runtime": str(interpreter.program) if interpreter else "",
            "program": str(self.built / self.workload.go.program) if self.workload.go else "",
            "search_path": str(self.built),
            "workload.built": str(self.built),
            "main": self.workload.main,
        }

    def command(self) -> list[str]:
        words = (word for word in self.workload.start if word not in ("{wrapper}", "{shared}", "{flags}"))
        return [fill(word, self._values) for word in words]

    def environment(self, port: int, url: str) -> dict[str, str]:
        values = self._values | {"listen.port": str(port), "stores.postgresql.url": url}
        return {name: fill(text, values) for name, text in self.workload.environment.items()}

    @contextmanager
    def started(self, folder: Path, url: str, pool: int) -> Generator[Service]:
        port = free_port()
        log = folder / "log"
        with (
            log.open("ab") as said,
            subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=folder,
                env=os.environ | self.environment(port, url) | {"POOL": str(pool)},
            ) as process,
        ):
            service = Service(process, port, log)
            try:
                service.await_ready()
                yield service
            finally:
                if process.poll() is None:
                    for one in (*psutil.Process(process.pid).children(recursive=True), process):
                        one.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    with stores.started(tmp_path_factory.mktemp("database")) as store:
        yield World(store)


@pytest.fixture(scope="module", params=LANGUAGES)
def program(request: pytest.FixtureRequest) -> Program:
    return Program(request.param)


@pytest.fixture(scope="module")
def service(program: Program, database: World, tmp_path_factory: pytest.TempPathFactory) -> Generator[Service]:
    with program.started(tmp_path_factory.mktemp("service"), database.url, POOL) as running:
        yield running


def test_there_are_services() -> None:
    assert sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir()) == LANGUAGES
    assert LANGUAGES


def test_json_is_an_object_with_a_message(service: Service) -> None:
    answer = service.get("/json")
    assert (answer.status, answer.type) == (200, "application/json")
    assert json.loads(answer.body) == {"message": "Hello, World!"}


def test_plaintext_is_a_text(service: Service) -> None:
    answer = service.get("/plaintext")
    assert (answer.status, answer.type, answer.body) == (200, "text/plain", "Hello, World!")


def test_db_is_one_row_of_the_table(service: Service, database: World) -> None:
    table = database.rows()
    for _ in range(MANY):
        answer = service.get("/db")
        assert (answer.status, answer.type) == (200, "application/json")
        row = json.loads(answer.body)
        assert_row(row)
        assert table[row["id"]] == row["randomNumber"]


@pytest.mark.parametrize("query", COUNTS)
def test_queries_answers_with_as_many_rows_as_asked(service: Service, query: str) -> None:
    assert len(service.rows(f"/queries{query}")) == COUNTS[query]


@pytest.mark.parametrize("query", COUNTS)
def test_updates_answers_with_as_many_rows_as_asked(service: Service, query: str) -> None:
    assert len(service.rows(f"/updates{query}")) == COUNTS[query]


def test_queries_answers_with_rows_of_the_table(service: Service, database: World) -> None:
    rows = service.rows("/queries?queries=500")
    table = database.rows()
    assert all(table[row["id"]] == row["randomNumber"] for row in rows)
    assert len({row["id"] for row in rows}) > 400, "ids are drawn"


def test_updates_writes_what_it_answers_with_and_nothing_else(service: Service, database: World) -> None:
    before = database.rows()
    rows = service.rows("/updates?queries=500")
    after = database.rows()
    written = {row["id"]: row["randomNumber"] for row in rows}  # of a row that was drawn twice the last number holds
    assert after == before | written
    assert sum(after[key] != before[key] for key in written) > 0.9 * len(written)


def test_updates_answers_in_the_order_of_writing_which_is_by_id(service: Service) -> None:
    ids = [row["id"] for row in service.rows("/updates?queries=100")]
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/json", {}),
        ("/db", {SELECT: 1}),
        (f"/queries?queries={MANY}", {SELECT: MANY}),
        (f"/updates?queries={FEW}", {SELECT: FEW, UPDATE: FEW}),
    ],
)
def test_a_request_makes_these_statements_and_no_others(
    service: Service, database: World, path: str, expected: dict[str, int]
) -> None:
    for _ in range(2 * POOL):  # whatever a connection asks first, it asks here
        service.get(path)
    before = database.statements()
    for _ in range(MANY):
        service.get(path)
    asked = database.statements().since(before).by_text
    counted = {statement: asked.calls for statement, asked in asked.items()}
    assert counted == {statement: MANY * calls for statement, calls in expected.items()}


def test_updates_writes_all_rows_in_one_transaction(service: Service, database: World) -> None:
    ids = {row["id"] for row in service.rows("/updates?queries=20")}
    listed = ", ".join(map(str, ids))
    assert len(database.ask(f"SELECT DISTINCT xmin::text FROM world WHERE id IN ({listed})")) == 1


def test_a_request_keeps_its_connection_until_it_is_through(program: Program, database: World, tmp_path: Path) -> None:
    waited = due = 0.0
    with program.started(tmp_path, database.url, pool=1) as service, ThreadPoolExecutor(1) as client:
        for _ in range(MANY):
            long = client.submit(lambda: service.get("/queries?queries=500") and time.monotonic())
            time.sleep(0.005)
            asked = time.monotonic()
            assert service.get("/db").status == 200
            answered, through = time.monotonic(), long.result()
            due += max(0.0, through - asked)
            waited += max(0.0, min(answered, through) - asked)
    assert waited > due / 2 > 0, "another request got the connection between two statements"


def test_all_requests_have_no_more_connections_than_the_pool(service: Service, database: World) -> None:
    paths = [f"/queries?queries={MANY}", f"/updates?queries={MANY}", "/db"] * 20
    connected = "SELECT count(*) FROM pg_stat_activity WHERE client_port IS NOT NULL AND pid <> pg_backend_pid()"
    with ThreadPoolExecutor(4 * POOL) as clients:
        pending = [clients.submit(service.get, path) for path in paths]
        connections = [*database.ask(connected)[0]]
        while not all(future.done() for future in pending):
            connections += database.ask(connected)[0]
    assert [future.result().status for future in pending] == [200] * len(paths)
    # of two looks in a row the lower: one that an earlier test has closed may still be ending
    assert 1 <= max(map(min, pairwise(connections))) <= POOL


def test_a_client_may_ask_again_on_its_connection(service: Service) -> None:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=LIMIT_S)
    ports: set[int] = set()
    for _ in range(150):
        assert service.get_on(connection, "/json").status == 200
        ports.add(connection.sock.getsockname()[1])
    time.sleep(IDLE_S)
    assert service.get_on(connection, "/json").status == 200
    assert ports == {connection.sock.getsockname()[1]}
    connection.close()


def test_no_other_path_is_there(service: Service) -> None:
    assert [service.get(path).status for path in ("/", "/nothing", "/db/1")] == [404] * 3


def test_only_this_machine_can_ask(service: Service) -> None:
    root = psutil.Process(service.process.pid)
    sockets = [one for process in (root, *root.children(recursive=True)) for one in process.net_connections("tcp")]
    listening = {(one.laddr.ip.removeprefix("::ffff:"), one.laddr.port) for one in sockets if one.status == "LISTEN"}
    assert listening == {("127.0.0.1", service.port)}


def test_without_the_database_it_says_so_and_with_it_goes_on(service: Service, database: World) -> None:
    with database.lost():
        for path in ("/db", "/queries?queries=2", "/updates?queries=2"):
            answer = service.get(path)
            assert answer.status == 500
            assert answer.body.strip() == "the database failed"
        assert service.get("/json").status == 200
    deadline = time.monotonic() + LIMIT_S
    while service.get("/db").status != 200:
        assert time.monotonic() < deadline
    for _ in range(2 * POOL):  # every connection that was lost has been replaced
        service.get("/db")
    assert len(service.rows("/updates?queries=2")) == 2


def test_term_ends_it_and_closes_connections_that_wait(program: Program, database: World, tmp_path: Path) -> None:
    with program.started(tmp_path, database.url, POOL) as service:
        waiting = HTTPConnection("127.0.0.1", service.port, timeout=LIMIT_S)
        assert service.get_on(waiting, "/db").status == 200
        children = psutil.Process(service.process.pid).children(recursive=True)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(LIMIT_S) == 0
        assert not any(child.is_running() for child in children)
        waiting.close()
    [(left,)] = database.ask("SELECT count(*) FROM pg_stat_activity WHERE client_port IS NOT NULL")
    assert left <= 1 + POOL, "mine, and those of the service that still runs"


@pytest.mark.parametrize("name", ["LISTEN", "DATABASE_URL"])
def test_without_its_variables_it_ends_and_names_them(program: Program, tmp_path: Path, name: str) -> None:
    environment = program.environment(free_port(), "postgresql://bench:secret@127.0.0.1:1/postgres")
    inherited = {key: value for key, value in os.environ.items() if key not in ("LISTEN", "DATABASE_URL")}
    del environment[name]
    done = subprocess.run(
        program.command(),
        env=inherited | environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode != 0
    assert name in done.stdout + done.stderr
