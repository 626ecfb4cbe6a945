import hashlib
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.artifacts.conftest import FakeTool
from tests.run.stand_ins import agents
from tracetax.artifacts import fetch, missing_pins
from tracetax.artifacts.maven import file_name
from tracetax.errors import ExitCode, UserError
from tracetax.model import Artifact

CONTENT = "the right content"
ARTIFACT = Artifact("agent", "org.example:tracer:1.2.3", hashlib.sha256(CONTENT.encode()).hexdigest())
DELIVERS = """
for option in "$@"; do case "$option" in
  -DoutputDirectory=*) folder="${{option#*=}}" ;;
  -Dmaven.repo.local=*) fresh=yes ;;
esac; done
echo called >> {calls}
mkdir -p "$folder"
if [ -n "$fresh" ]; then printf '%s' '{fresh}' > "$folder/tracer-1.2.3.jar"
else printf '%s' '{ordinary}' > "$folder/tracer-1.2.3.jar"; fi
"""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls"
    path.touch()
    return path


def delivers(calls: Path, *, ordinary: str = CONTENT, fresh: str = CONTENT) -> str:
    return DELIVERS.format(calls=calls, ordinary=ordinary, fresh=fresh)


def number_of(calls: Path) -> int:
    return len(calls.read_text(encoding="utf-8").splitlines())


def leftovers(cache: Path) -> list[Path]:
    return [*(cache / "staging").iterdir(), *(cache / "logs").iterdir()]


@pytest.mark.parametrize(
    ("coordinate", "name"),
    [
        ("org.example:tracer:1.2.3", "tracer-1.2.3.jar"),
        ("org.example:tracer:1.2.3:zip", "tracer-1.2.3.zip"),
        ("org.example:tracer:1.2.3:jar:bytebuddy", "tracer-1.2.3-bytebuddy.jar"),
    ],
)
def test_a_file_is_called_as_maven_calls_it(coordinate: str, name: str) -> None:
    assert file_name(coordinate) == name


def test_an_artifact_is_stored_under_its_checksum(cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("mvn", delivers(calls))
    path = fetch(ARTIFACT, cache)
    assert path == cache / "artifacts" / ARTIFACT.sha256 / "tracer-1.2.3.jar"
    assert path.read_text(encoding="utf-8") == CONTENT
    assert leftovers(cache) == []


def test_what_is_in_the_cache_is_not_fetched_again(cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("mvn", delivers(calls))
    fetch(ARTIFACT, cache)
    fetch(ARTIFACT, cache)
    assert number_of(calls) == 1


def test_a_damaged_file_in_the_cache_is_noticed_and_fetched_again(
    cache: Path, fake_tool: FakeTool, calls: Path
) -> None:
    fake_tool("mvn", delivers(calls))
    fetch(ARTIFACT, cache).write_text("damaged", encoding="utf-8")
    said: list[str] = []
    assert fetch(ARTIFACT, cache, said.append).read_text(encoding="utf-8") == CONTENT
    assert "damaged" in said[0]


def test_a_damaged_copy_in_mavens_local_repository_is_passed_over(
    cache: Path, fake_tool: FakeTool, calls: Path
) -> None:
    fake_tool("mvn", delivers(calls, ordinary="damaged"))
    said: list[str] = []
    assert fetch(ARTIFACT, cache, said.append).read_text(encoding="utf-8") == CONTENT
    assert "past Maven's local repository" in said[-1]


def test_a_download_with_the_wrong_checksum_is_refused_with_both_sums(
    cache: Path, fake_tool: FakeTool, calls: Path
) -> None:
    fake_tool("mvn", delivers(calls, ordinary="other", fresh="other"))
    with pytest.raises(UserError) as caught:
        fetch(ARTIFACT, cache)
    message = str(caught.value)
    assert ARTIFACT.maven in message
    assert ARTIFACT.sha256 in message
    assert hashlib.sha256(b"other").hexdigest() in message
    assert caught.value.exit_code is ExitCode.ENVIRONMENT
    assert not (cache / "artifacts").exists()


def test_what_is_not_pinned_yet_is_fetched_once_and_told_with_its_checksum(
    cache: Path, fake_tool: FakeTool, calls: Path
) -> None:
    fake_tool("mvn", delivers(calls))
    with pytest.raises(UserError, match="is not pinned yet") as caught:
        fetch(replace(ARTIFACT, sha256="0" * 64), cache)
    assert hashlib.sha256(CONTENT.encode()).hexdigest() in str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE
    assert number_of(calls) == 1
    assert not (cache / "artifacts").exists()


def test_a_damaged_local_copy_without_a_network_says_what_to_delete(
    cache: Path, fake_tool: FakeTool, calls: Path
) -> None:
    fake_tool(
        "mvn", 'case "$*" in *repo.local*) echo no network; exit 1;; esac\n' + delivers(calls, ordinary="damaged")
    )
    with pytest.raises(
        UserError, match=r"(?s)Delete Maven's copy, usually ~/\.m2/repository/org/example/tracer/1\.2\.3"
    ):
        fetch(ARTIFACT, cache)


def test_a_failing_maven_is_reported_with_its_last_lines_and_its_log(cache: Path, fake_tool: FakeTool) -> None:
    fake_tool("mvn", "echo '[ERROR] Unknown host'; exit 1")
    with pytest.raises(
        UserError, match=r"(?s)org.example:tracer:1.2.3 could not be fetched.*Unknown host.*whole output: (\S+)"
    ) as caught:
        fetch(ARTIFACT, cache)
    log = Path(str(caught.value).rpartition(" ")[2])
    assert "Unknown host" in log.read_text(encoding="utf-8")


def test_a_missing_maven_is_reported_with_what_it_is_for(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"mvn is missing; it is needed to fetch org\.example:tracer") as caught:
        fetch(ARTIFACT, cache)
    assert caught.value.exit_code is ExitCode.ENVIRONMENT


def test_a_cache_that_cannot_be_written_is_reported(tmp_path: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("mvn", delivers(calls))
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        fetch(ARTIFACT, tmp_path / "file" / "cache")


def test_two_fetches_at_once_both_get_the_whole_file(cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("mvn", delivers(calls) + "\nsleep 0.2")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch(ARTIFACT, cache).read_text(encoding="utf-8")))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT, CONTENT]


def test_all_checksums_that_an_agent_lacks_are_told_at_once(cache: Path, fake_tool: FakeTool, calls: Path) -> None:
    fake_tool("mvn", delivers(calls))
    names = ("agent", "plugin")
    artifacts = {name: replace(ARTIFACT, name=name, sha256="0" * 64) for name in names} | {
        "pinned": replace(ARTIFACT, name="pinned")
    }
    agent = replace(agents()["none"], artifacts=artifacts)
    assert missing_pins(agent, cache) == dict.fromkeys(names, ARTIFACT.sha256)
