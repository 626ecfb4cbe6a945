"""Rules of docs/architecture.md that a test can hold: layers, makers and readers, file sizes, agents without code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tracetax"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = {
    "agent": 1,
    "backend": 1,
    "child": 1,
    "errors": 1,
    "kinds": 1,
    "place": 1,
    "ledger": 1,
    "machine": 1,
    "model": 1,
    "orphans": 1,
    "parameters": 1,
    "preparation": 1,
    "printable": 1,
    "program": 1,
    "process": 1,
    "signals": 1,
    "schedule": 1,
    "statistics": 1,
    "service": 1,
    "store": 1,
    "words": 1,
    "artifacts": 2,
    "catalog": 2,
    "companions": 2,
    "results": 2,
    "analysis": 3,
    "workloads": 3,
    "report": 4,
    "run": 4,
    "__main__": 5,
    "cli": 5,
    "commands": 5,
    "installed": 5,
}
MAKERS = {"run", "workloads", "companions"}
READERS = {"analysis", "report"}
KNOW_NO_LANGUAGE = {"run", "results", "statistics", "companions"}
"""What makes, keeps and compares the results of any workload."""
EARLIER = "results/earlier.py"
"""Knows the shapes that were stored when there was one kind of workload, and one language."""
OF_THE_CALL_TREE = {"depth", "invocations", "method_time_ns"}
"""Parameters that only the call tree has, and what follows from them."""
AS_STORED = {"results/manifest.py": {"self.invocations"}}
"""Where a stored type says one of these words about something else: there, how often a command was typed."""
TOLD = {"Go": re.compile(r"\bGo (program|module|build|runtime|\d)")}
"""How a language whose name is a common word would stand in a sentence; the others' names are no words."""
COMMON_WORDS = {"functions", "requests"}
"""Kinds whose names are common words too: of these, imports alone tell whether a file knows the kind."""
KNOW_NO_KIND = {"run", "results", "statistics", "companions", "artifacts", "machine", "program"}
LONGEST = 400
OF_A_KINDS_FILES = "each kind has one: catalog/kinds finds it by its name"
SAME_FUNCTION_NAME = {
    "account": "a section of the page is called as what it shows",
    "arguments": "each kind's driver has its own: workloads/kinds.py finds it by its name",
    "called": "each kind has one: report/kinds finds it by its name",
    "collect": "each kind has one: workloads/kinds.py finds it by its name",
    "check_levels": OF_A_KINDS_FILES,
    "check_workload": OF_A_KINDS_FILES,
    "completed": f"{OF_A_KINDS_FILES}; of settings, too",
    "completed_workload": OF_A_KINDS_FILES,
    "doctor": "the command, and what it does",
    "duration": "catalog/units.py reads what report/numbers.py writes",
    "environment_names": OF_A_KINDS_FILES,
    "export": "each format has one: report/exports finds it by its name",
    "file_name": "of an artifact, by how it is fetched",
    "go_version": "artifacts/ asks the Go that builds, machine/ every one that it finds",
    "half_width": "catalog/units.py reads what report/views.py tells",
    "in_unit": "text in the terminal, a measure on the page",
    "lacking": OF_A_KINDS_FILES,
    "main": "of an installed Tracetax, and of every one",
    "measured": "said of agents in run/, of a number in report/",
    "parameters_of": OF_A_KINDS_FILES,
    "ranked_by": "of a part, and of a whole run",
    "scheduled": "the command line's wish, and the catalog's answer",
    "shown": OF_A_KINDS_FILES,
    "typed_parameters": OF_A_KINDS_FILES,
    "typed_title": OF_A_KINDS_FILES,
    "size": "catalog/units.py reads what report/numbers.py writes",
}
"""Names that several functions may have, and why."""
LONGEST_FUNCTION = 80
MOST_PARAMETERS = 7
LARGE_FUNCTIONS: dict[str, str] = {}
"""Functions that may be longer, or have more parameters, and why. One that no longer is must be taken out."""


def part(file: Path) -> str:
    """The folder or file directly under src/tracetax that a source file belongs to."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(file: Path) -> set[str]:
    """The parts of tracetax that a file imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relatively; write tracetax.…"
            module = node.module or ""
            names |= {f"{module}.{alias.name}" for alias in node.names} if module == "tracetax" else {module}
    return {name.split(".")[1] for name in names if name.startswith("tracetax.")} - {"__version__"}


def named(file: Path) -> str:
    return str(file.relative_to(SOURCE))


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_file_imports_only_from_its_own_floor_or_below(file: Path) -> None:
    if part(file) == "__init__":
        assert not imports(file)
        return
    above = {name for name in imports(file) if LAYERS[name] > LAYERS[part(file)]}
    assert not above, f"{named(file)} is in layer {LAYERS[part(file)]} and imports {above}"


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_two_wings_meet_only_in_results(file: Path) -> None:
    other_wing = READERS if part(file) in MAKERS else MAKERS if part(file) in READERS else set[str]()
    assert not imports(file) & other_wing


@pytest.mark.parametrize("file", FILES, ids=named)
def test_no_file_is_longer_than_a_reader_can_hold(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= LONGEST


def large_functions(file: Path) -> set[str]:
    """Functions of a file that cannot be read without scrolling, or have more parameters than one keeps in mind."""
    large: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            said = node.args
            several = [argument for argument in (said.vararg, said.kwarg) if argument]
            arguments = [*said.posonlyargs, *said.args, *said.kwonlyargs, *several]
            parameters = [argument for argument in arguments if argument.arg not in ("self", "cls")]
            if lines > LONGEST_FUNCTION or len(parameters) > MOST_PARAMETERS:
                large.add(f"{named(file)} {node.name}")
    return large


def test_every_function_is_read_without_scrolling_and_has_few_parameters() -> None:
    large = {function for file in FILES for function in large_functions(file)}
    assert not large - LARGE_FUNCTIONS.keys(), "split it, put what travels together into one value, or say the reason"
    assert not LARGE_FUNCTIONS.keys() - large, "no longer large: take it out of LARGE_FUNCTIONS"


def test_every_part_has_a_floor() -> None:
    assert {part(file) for file in FILES} - {"__init__"} <= LAYERS.keys()


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_code_knows_no_agent(file: Path) -> None:
    agents = {folder.name for folder in (ROOT / "agents").iterdir() if folder.is_dir()} - {"none"}
    assert not words_of_code(file) & agents, "what is known about an agent belongs into agents/<name>/"


@pytest.mark.parametrize("file", [file for file in FILES if part(file) in KNOW_NO_KIND], ids=named)
def test_what_makes_any_trial_knows_no_kind_of_workload(file: Path) -> None:
    if named(file) == EARLIER:
        return
    kinds = {folder.name for folder in (ROOT / "workloads").iterdir() if folder.is_dir()}
    assert "calltree" in kinds
    assert not words_of_code(file) & (kinds - COMMON_WORDS), (
        "what is known about a kind belongs into src/tracetax/workloads/<kind>.py"
    )


@pytest.mark.parametrize("file", [file for file in FILES if part(file) in KNOW_NO_LANGUAGE], ids=named)
def test_what_makes_any_trial_and_its_results_knows_no_language(file: Path) -> None:
    if named(file) == EARLIER:
        return
    assert not modules(file) & (kinds() | languages()), "what is known about a kind is found by its name"
    assert not languages_told(file, languages()), "what is known about a language belongs into workloads/ and runtimes/"


@pytest.mark.parametrize("file", [file for file in FILES if part(file) in KNOW_NO_LANGUAGE], ids=named)
def test_what_makes_any_trial_and_its_results_computes_with_no_kinds_parameters(file: Path) -> None:
    told = "what depends on a kind's parameters is declared in src/tracetax/kinds/<kind>.py"
    assert not asked_of_a_kind(file) - AS_STORED.get(named(file), set()), told


def test_a_kinds_parameter_is_found_wherever_it_is_read_and_a_runs_invocations_are_none(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text("a = part.parameters.depth\nb = replace(self.manifest.invocations[0], depth=1)\n")
    assert asked_of_a_kind(file) == {"part.parameters.depth"}


def asked_of_a_kind(file: Path) -> set[str]:
    """Where a file reads what only the call tree has; the invocations of a command, in a manifest, are none of it."""
    attributes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute)]
    read = {ast.unparse(node) for node in attributes if node.attr in OF_THE_CALL_TREE}
    return {text for text in read if not text.endswith("manifest.invocations")}


def test_a_language_is_found_in_names_and_in_sentences_and_common_words_are_none(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    said = {
        '"calltree/go"': {"go"},
        'f"node-{1}.lock"': {"node"},
        '"javac failed"': {"java"},
        '"the JVM ended"': {"java"},
        '"the Python that is found first"': {"python"},
        '"a Go program ended"': {"go"},
        '"the others go on"': set[str](),
        '"Go on with: ./tracetax run"': set[str](),
        '"requests that were refused"': set[str](),
    }
    found: dict[str, set[str]] = {}
    for text in said:
        file.write_text(f"said = {text}\n")
        found[text] = languages_told(file, {"go", "java", "node", "python"})
    assert found == said


def kinds() -> set[str]:
    """The kinds of workload."""
    return {folder.name for folder in (ROOT / "workloads").iterdir() if folder.is_dir()}


def languages() -> set[str]:
    """The languages of all workloads and agents."""
    files = [*(ROOT / "workloads").glob("*/*/workload.toml"), *(ROOT / "agents").glob("*/*/agent.toml")]
    found = {file.parent.name for file in files}
    assert {"go", "java", "node", "python"} <= found
    return found


def modules(file: Path) -> set[str]:
    """Parts of the names of all modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tracetax"):
            folder = ROOT / "src" / node.module.replace(".", "/") if node.module else ROOT
            below = {alias.name for alias in node.names if (folder / f"{alias.name}.py").is_file()}
            names |= {node.module or "", *(f"{node.module}.{name}" for name in below)}
    return {part for name in names for part in name.lower().split(".")}


OTHER_NAMES = {"javac": "java", "jvm": "java", "jdk": "java", "cpython": "python", "golang": "go", "node.js": "node"}
"""What a language goes by, too."""


def languages_told(file: Path, known: set[str]) -> set[str]:
    """The languages that a file's strings name: in what is no sentence by any word, in a sentence by their names.

    Docstrings are left out, and so are the verdicts' codes, which are those of records that are kept.
    """
    tree = ast.parse(file.read_text())
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found: set[str] = set()
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in told else None
        if not isinstance(text, str):
            continue
        sentence = " " in text.strip()
        for word in re.findall(r"[\w.]+", text):
            name = OTHER_NAMES.get(word.lower().strip("."), word.lower().strip("."))
            proper = word[0].isupper() or word.lower() in OTHER_NAMES
            if name in known and (not sentence or (proper and name.capitalize() not in TOLD)):
                found.add(name)
        found |= {name.lower() for name, pattern in TOLD.items() if sentence and pattern.search(text)}
    return found & known


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_code_knows_no_backend(file: Path) -> None:
    """Folders are named so that none is called as a protocol is."""
    backends = {folder.name for folder in (ROOT / "backends").iterdir() if folder.is_dir()}
    protocols = set((ROOT / "sink" / "protocols.txt").read_text().split())
    assert not backends & protocols
    assert not words_of_code(file) & backends, "what is known about a backend belongs into backends/<name>/"


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_code_knows_no_store(file: Path) -> None:
    stores = {folder.name for folder in (ROOT / "stores").iterdir() if folder.is_dir()}
    assert stores
    assert not words_of_code(file) & stores, "what is known about a store belongs into stores/<name>/"


def words_of_code(file: Path) -> set[str]:
    """Parts of identifiers and of names in strings (``kieker-tcp``, a protocol, is one word).

    Docstrings are left out, and so are strings that show a reader what to type, and functions of ``math`` and numpy.
    """
    tree = ast.parse(file.read_text())
    arithmetic = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_arithmetic(node)}
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    words: set[str] = set()
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in told else None
        if isinstance(text, str) and "./tracetax " not in text:
            words |= {word for found in re.findall(r"[\w-]+", text.lower()) for word in (found, *found.split("_"))}
        for name in ("id", "attr", "arg", "name"):
            if isinstance(identifier := getattr(node, name, None), str) and id(node) not in arithmetic:
                words |= set(identifier.lower().split("_"))
    return words


def is_arithmetic(node: ast.Attribute) -> bool:
    """Whether it is a function such as ``math.floor``."""
    return isinstance(node.value, ast.Name) and node.value.id in ("math", "np")


def test_every_public_type_has_a_name_of_its_own() -> None:
    assert not shared_names(ast.ClassDef)


def test_public_functions_share_a_name_only_with_a_reason() -> None:
    assert shared_names(ast.FunctionDef).keys() <= SAME_FUNCTION_NAME.keys()


def shared_names(kind: type[ast.ClassDef | ast.FunctionDef]) -> dict[str, list[str]]:
    """Public names that more than one file defines on its top level, with those files."""
    files: dict[str, list[str]] = {}
    for file in FILES:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, kind) and not node.name.startswith("_"):
                files.setdefault(node.name, []).append(named(file))
    return {name: places for name, places in files.items() if len(places) > 1}


def test_who_follows_a_sample_to_the_page_opens_25_files_at_most() -> None:
    section = (ROOT / "docs" / "architecture.md").read_text().partition("## One sample, from the JVM to the page")[2]
    files = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert not [name for name in files if not (ROOT / name).is_file()]
    assert 20 <= len(files) <= 25
