"""``[[prepare]]``: folders are made once per content, by the real compiler and programs, and failures say where."""

import shutil
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.artifacts.test_archives import FILES, contents, tarred, zipped
from tracetax.artifacts import Workplace, class_files, prepared
from tracetax.artifacts.cache import BUILT
from tracetax.errors import UserError
from tracetax.preparation import Compilation, PrepareStep, Program

needs_jdk = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
PROGRAM = """
package own;

public class Weaver {
  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 2) {
      System.err.println("cannot weave " + arguments[2]);
      System.exit(3);
    }
    byte[] read = java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(arguments[0]));
    java.nio.file.Files.write(java.nio.file.Paths.get(arguments[1], "woven"), read);
    java.nio.file.Files.write(java.nio.file.Paths.get("scratch"), read);
  }
}
"""
MANIFEST = "Manifest-Version: 1.0\nPremain-Class: own.Weaver\n\n"


@pytest.fixture
def place(tmp_path: Path, cache: Path) -> Workplace:
    """An agent's folder with a plugin in source, an archive, and a workload of one class."""
    agent = tmp_path / "agents" / "tracer"
    for name, text in {
        "plugin/own/Weaver.java": PROGRAM,
        "plugin/own/words.properties": "a = b",
        "plugin/META-INF/MANIFEST.MF": MANIFEST,
        "config/a.conf": "a = 1",
    }.items():
        path = agent / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    classes, sources = tmp_path / "classes", tmp_path / "sources"
    for folder, name in ((classes, "Main.class"), (sources, "Main.java")):
        folder.mkdir()
        (folder / name).write_text("a workload")
    return Workplace(
        agent="tracer",
        folder=agent,
        artifacts={"agent": tarred(tmp_path / "agent.tar.gz", FILES)},
        classes=classes,
        sources=sources,
        monitored={"monitored.class": "a.B"},
        cache=cache,
    )


UNPACKED = PrepareStep("home", unzip=("{artifacts.agent}",), strip=1)
COMPILED = PrepareStep("plugin", compile=Compilation("{agent.files}/plugin"))
JAR = PrepareStep("jar", compile=Compilation("{agent.files}/plugin", jar="lib/own.jar"))


def made(step: PrepareStep, place: Workplace) -> Path:
    return prepared([step], place)[step.name]


def files(folder: Path) -> set[str]:
    return set(contents(folder)) - {".tracetax-contents.sha256"}


def test_an_archive_is_unpacked_and_files_are_put_beside_what_it_holds(place: Workplace) -> None:
    copied = {
        "conf": "{agent.files}/config",
        "lib/x.tgz": "{artifacts.agent}",
        "own.conf": "{agent.files}/config/a.conf",
    }
    folder = made(replace(UNPACKED, copy=copied), place)
    assert files(folder) == {"agent.jar", "bin/start", "conf/a.conf", "lib/x.tgz", "own.conf"}
    assert (folder / "conf/a.conf").read_text() == "a = 1"  # what is copied goes over what is unpacked


def test_a_folder_is_made_once(place: Workplace) -> None:
    said: list[str] = []
    first = prepared([UNPACKED], place, said.append)
    assert prepared([UNPACKED], place, said.append) == first
    assert said == ["preparing home of tracer"]


def test_what_a_trial_wrote_into_it_is_noticed_and_it_is_made_again(place: Workplace) -> None:
    (made(UNPACKED, place) / "agent.log").write_text("left behind")
    assert "agent.log" not in files(made(UNPACKED, place))


def test_it_is_another_folder_when_its_definition_or_anything_that_goes_into_it_changes(
    place: Workplace, tmp_path: Path
) -> None:
    copied = PrepareStep("home", copy={"a": "{agent.files}/config/a.conf", "w": "{workload.built}"})
    before = {made(step, place) for step in (UNPACKED, copied)}
    assert made(replace(UNPACKED, strip=0), place) not in before
    other = place.with_artifacts({"agent": tarred(tmp_path / "new.tar.gz", {"a/b": b"new"})})
    assert made(UNPACKED, other) not in before
    (place.folder / "files/config/a.conf").write_text("a = 2")
    changed = made(copied, place)
    assert changed not in before
    (place.classes / "Main.class").write_text("another workload")
    assert made(copied, place) not in {*before, changed}


def test_it_stays_the_same_when_something_else_of_the_agent_changes(place: Workplace) -> None:
    copied = PrepareStep("home", copy={"a": "{agent.files}/config"})
    before = made(copied, place)
    (place.folder / "files/plugin/own/words.properties").write_text("a = c")
    assert made(copied, place) == before


@needs_jdk
def test_what_a_programs_arguments_name_goes_into_it_too(place: Workplace) -> None:
    arguments = ("{agent.files}/config/a.conf", "{out}")
    steps = (COMPILED, PrepareStep("woven", run=Program("own.Weaver", ("{prepared.plugin}",), (), arguments)))
    before = prepared(steps, place)["woven"]
    (place.folder / "files/config/a.conf").write_text("a = 2")
    after = prepared(steps, place)["woven"]
    assert after != before
    assert (after / "woven").read_text() == "a = 2"


@needs_jdk
def test_a_program_may_be_one_that_the_same_step_has_compiled(place: Workplace) -> None:
    arguments = ("{workload.built}/Main.class", "{out}")
    step = replace(COMPILED, run=Program("own.Weaver", ("{out}",), (), arguments))
    assert "woven" in files(made(step, place))


@needs_jdk
def test_what_is_made_of_another_folder_is_made_once_too(place: Workplace) -> None:
    copied = PrepareStep("sources", copy={".": "{agent.files}/plugin"})
    again = PrepareStep("again", copy={".": "{prepared.sources}"})
    compiled = PrepareStep("compiled", compile=Compilation("{prepared.sources}"))
    said: list[str] = []
    prepared([copied, again, compiled], place, said.append)
    folders = prepared([copied, again, compiled], place, said.append)
    assert [sentence.split()[1] for sentence in said] == ["sources", "again", "compiled"]
    assert "own/Weaver.class" in files(folders["compiled"])


def test_folders_of_two_agents_are_kept_apart(place: Workplace) -> None:
    assert made(UNPACKED, replace(place, agent="other")) != made(UNPACKED, place)


@needs_jdk
def test_sources_are_compiled_with_their_resources(place: Workplace) -> None:
    assert files(made(COMPILED, place)) == {"own/Weaver.class", "own/words.properties", "META-INF/MANIFEST.MF"}


@needs_jdk
def test_sources_that_a_step_made_are_compiled_once(place: Workplace) -> None:
    said: list[str] = []
    steps = [
        PrepareStep("sources", copy={"own": "{agent.files}/plugin/own"}),
        PrepareStep("compiled", compile=Compilation("{prepared.sources}")),
    ]
    assert prepared(steps, place, said.append) == prepared(steps, place, said.append)
    assert said == ["preparing sources of tracer", "preparing compiled of tracer"]


@needs_jdk
def test_a_jar_has_its_manifest_first_and_is_the_same_when_made_again(place: Workplace) -> None:
    jar = made(JAR, place) / "lib/own.jar"
    before = jar.read_bytes()
    with zipfile.ZipFile(jar) as archive:
        assert archive.namelist()[0] == "META-INF/MANIFEST.MF"
        assert set(archive.namelist()[1:]) == {"own/Weaver.class", "own/words.properties"}
    jar.write_bytes(b"damaged")
    assert (made(JAR, place) / "lib/own.jar").read_bytes() == before


@needs_jdk
def test_a_program_writes_into_the_folder_with_what_other_steps_made(place: Workplace) -> None:
    woven = PrepareStep(
        "woven",
        run=Program("own.Weaver", ("{prepared.plugin}",), ("-Xmx32m",), ("{workload.built}/Main.class", "{out}")),
    )
    folders = prepared([COMPILED, woven], place)
    assert {name: data for name, data in contents(folders["woven"]).items() if name != ".tracetax-contents.sha256"} == {
        "woven": b"a workload"
    }
    assert not list((place.cache / "staging").iterdir())
    assert not list((place.cache / "logs").iterdir())


@needs_jdk
def test_a_change_below_is_a_change_of_all_that_is_made_of_it(place: Workplace) -> None:
    woven = PrepareStep(
        "woven", run=Program("own.Weaver", ("{prepared.plugin}",), (), ("{workload.built}/Main.class", "{out}"))
    )
    before = prepared([COMPILED, woven], place)
    (place.folder / "files/plugin/own/words.properties").write_text("a = c")
    after = prepared([COMPILED, woven], place)
    assert before["woven"] != after["woven"]


def failure(step: PrepareStep, place: Workplace) -> str:
    with pytest.raises(UserError) as caught:
        prepared([step], place)
    assert not (place.cache / BUILT).exists() or not list((place.cache / BUILT).glob(f"tracer-{step.name}-*"))
    return str(caught.value)


@needs_jdk
def test_a_failed_program_is_told_with_agent_step_output_log_and_file(place: Workplace) -> None:
    plugin = made(COMPILED, place)
    arguments = ("{workload.built}/Main.class", "{out}", "this")
    step = PrepareStep("woven", run=Program("own.Weaver", ("{artifacts.plugin}",), (), arguments))
    message = failure(step, place.with_artifacts({"plugin": plugin}))
    assert 'The folder "woven" of tracer could not be made: own.Weaver failed: java ended with status 3' in message
    assert "cannot weave this" in message
    assert f"{place.folder / 'agent.toml'}, [[prepare]]" in message
    assert Path(message.rpartition("whole output: ")[2]).is_file()


@needs_jdk
def test_sources_that_do_not_compile_are_told_with_the_compilers_words(place: Workplace) -> None:
    (place.folder / "files/plugin/own/Weaver.java").write_text("class Weaver { int }")
    message = failure(COMPILED, place)
    assert 'The folder "plugin" of tracer could not be compiled: javac ended with status 1' in message
    assert "Weaver.java:1: error" in message


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (PrepareStep("x", copy={"a": "{agent.files}/gone"}), '"{agent.files}/gone" is not there'),
        (PrepareStep("x", unzip=("{agent.files}/config",)), '"{agent.files}/config" is not there'),
        (PrepareStep("x", unzip=("{agent.files}/config/a.conf",)), "can be read neither as zip nor as tar"),
        (replace(UNPACKED, strip=9), "there is nothing in the folder after strip"),
        (replace(UNPACKED, copy={"agent.jar/x": "{artifacts.agent}"}), "cannot be copied to"),
        (PrepareStep("x", compile=Compilation("{agent.files}/config")), "there is no .java below"),
    ],
)
def test_what_is_missing_or_wrong_is_named(place: Workplace, step: PrepareStep, said: str) -> None:
    message = failure(step, place)
    assert said in message
    assert f'The folder "{step.name}" of tracer' in message
    assert "agent.toml, [[prepare]]" in message


def test_classes_are_found_in_folders_and_jars_in_order(tmp_path: Path) -> None:
    jar = zipped(tmp_path / "a.jar", {"a/B.class": b""})
    (tmp_path / "classes" / "a").mkdir(parents=True)
    (tmp_path / "classes" / "a" / "B.class").touch()
    entries = [tmp_path / "gone", jar, tmp_path / "classes"]
    assert list(class_files("a.B", entries)) == [jar, tmp_path / "classes"]
    assert list(class_files("a.C", entries)) == []
