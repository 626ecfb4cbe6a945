"""What comes with Tracetax: it loads, it says what its readme says, and no key in it can be misspelled unnoticed."""

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.catalog.conftest import adhoc
from tests.settings import tree
from tracetax.catalog import every_agent, load_agents, load_experiment, load_experiments
from tracetax.catalog.agent_file import Known
from tracetax.catalog.agent_shape import AgentShape
from tracetax.catalog.command_line import TypedExperiment
from tracetax.catalog.experiment_shape import shape_for
from tracetax.catalog.reading import Report, read
from tracetax.catalog.workload_file import MeasuredProgram, load_workload, workload_names
from tracetax.model import BASELINE, Delivery, Profile

ROOT = Path(__file__).parents[2]
AGENT_FILES = sorted((ROOT / "agents").glob("*/*/agent.toml"))
PROGRAMS = [MeasuredProgram(name, load_workload(name, ROOT)[1], Known({})) for name in workload_names(ROOT)]
EXPERIMENT_FILES = sorted((ROOT / "experiments").glob("*.toml"))
NAMED_BY_THE_AUTHOR = (
    *("artifacts", "configurations", "technologies", "environment", "copy", "replace", "published", "where", "agents"),
)
Path_ = tuple[str | int, ...]


def test_all_agents_and_experiments_load() -> None:
    agents = every_agent(ROOT)
    for baseline in agents.products[BASELINE.agent].values():
        assert BASELINE.configuration in baseline.configurations
    assert {"quick", "smoke"} <= load_experiments(agents, ROOT).keys()


def test_every_configuration_is_explained_in_its_agents_readme() -> None:
    for agent in every_agent(ROOT).single:
        readme = (ROOT / "agents" / agent.key / "README.md").read_text(encoding="utf-8")
        for name in (*agent.technologies, *(name for name in agent.configurations if ":" not in name)):
            assert f"| `{name}` |" in readme, f"{agent.key} {name}"


def test_every_agent_has_exactly_one_stock_configuration_that_delivers() -> None:
    for agent in every_agent(ROOT).single:
        stock = [each for each in agent.configurations.values() if each.profile is Profile.STOCK]
        assert len(stock) == (agent.key != BASELINE.agent)
        assert all(each.delivery is not Delivery.NONE for each in stock)


def test_agents_can_be_measured_without_a_file() -> None:
    known = every_agent(ROOT).of("java")
    experiment = adhoc(known, TypedExperiment(agent="kieker,opentelemetry", rate="1000/s"))
    assert [str(use) for use in experiment.parts[0].uses] == ["kieker binary-tcp", "opentelemetry otlp"]


def test_smoke_is_no_result_and_quick_is_one() -> None:
    experiments = load_experiments(every_agent(ROOT), ROOT)
    assert not experiments["smoke"].result
    assert experiments["quick"].result


def test_the_papers_table_stands_beside_every_row_that_is_reproduced_on_both_machines() -> None:
    agents = load_agents(ROOT, "java")
    experiment = load_experiment("icpe26-table2", every_agent(ROOT), ROOT)
    rows = {row.use for row in experiment.published}
    named = {use for use in experiment.parts[0].uses if agents[use.agent].configurations[use.configuration].published}
    assert rows == named | {BASELINE}
    assert len(experiment.published) == 2 * len(rows)
    assert experiment.rank_by == "overhead"
    x86 = {str(row.use): row.estimate for row in experiment.published if "x86" in row.platform}
    assert (x86["none baseline"], x86["elastic stock"]) == (64.43, 4285.96)


def test_every_line_of_the_papers_third_table_stands_beside_a_configuration() -> None:
    agents = load_agents(ROOT, "java")
    experiment = load_experiment("icpe26-depth", every_agent(ROOT), ROOT)
    assert [tree(part.parameters).depth for part in experiment.parts] == [2, 4, 8, 16, 32, 64, 128]
    others = {BASELINE.agent, "kieker-history", "ladder", "cloudprofiler-handlers"}
    assert {use.agent for use in experiment.parts[0].uses} == set(agents) - others
    lines = {line.use.agent: (line.slope, line.intercept, line.r_squared) for line in experiment.published_lines}
    assert lines["kieker"] == (133.92, 197.35, 0.9985)
    assert set(lines) == {"elastic", "inspectit", "kieker", "opentelemetry", "pinpoint", "scouter", "skywalking"}


@pytest.mark.parametrize("name", [path.stem for path in EXPERIMENT_FILES if "[fast]" in path.read_text()])
def test_the_shorter_version_is_shorter(name: str) -> None:
    agents = every_agent(ROOT)
    full, short = (load_experiment(name, agents, ROOT, variant=variant) for variant in ("", "fast"))
    assert short.schedule.budget_ns < full.schedule.budget_ns
    assert short.parts[0].parameters.calls < full.parts[0].parameters.calls


def test_the_papers_calls_and_starts_are_those_of_the_published_version() -> None:
    printed = load_experiment("icpe26-table2", every_agent(ROOT), ROOT, variant="as-published")
    assert {part.parameters.calls for part in printed.parts} == {2_000_000}
    assert (printed.schedule.min_blocks, printed.schedule.max_blocks) == (10, 10)


def keys_of(document: object, path: Path_ = ()) -> Iterator[Path_]:
    """The paths of all keys of a document whose names the format fixes."""
    if isinstance(document, dict):
        for key, value in cast("dict[str, object]", document).items():
            if not (path and path[-1] in NAMED_BY_THE_AUTHOR):
                yield (*path, key)
            yield from keys_of(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(cast("list[object]", document)):
            yield from keys_of(value, (*path, index))


def renamed(document: dict[str, Any], path: Path_, name: str) -> dict[str, Any]:
    """A copy in which the key at ``path`` is called ``name``."""
    result = copy.deepcopy(document)
    table: Any = result
    for step in path[:-1]:
        table = table[step]
    table[name] = table.pop(path[-1])
    return result


@st.composite
def misspellings(draw: st.DrawFn, word: str) -> str:
    """``word`` with one letter too many, too few or wrong, or two of them swapped."""
    at = draw(st.integers(0, len(word) - 1))
    letter = draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz_-"))
    before, after = word[:at], word[at:]
    swapped = before + after[1:2] + after[0] + after[2:]
    return draw(st.sampled_from([before + letter + after, before + after[1:], before + letter + after[1:], swapped]))


@pytest.mark.parametrize("file", [*AGENT_FILES, *EXPERIMENT_FILES], ids=lambda path: "/".join(path.parts[-3:]))
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_key_can_be_misspelled_unnoticed(file: Path, data: st.DataObject) -> None:
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    said = document.get("workload", "calltree/java")
    kind = (said if isinstance(said, str) else said[0]).partition("/")[0]
    own = [program for program in PROGRAMS if program.key.startswith(f"{kind}/")]
    shape = AgentShape if file.name == "agent.toml" else shape_for(own, {})
    path = data.draw(st.sampled_from(sorted(keys_of(document), key=str)))
    word = str(path[-1])
    wrong = data.draw(misspellings(word))
    assume(wrong not in ("", word))
    report = Report(file.name)
    read(renamed(document, path, wrong), shape, report)
    problem, *others = report.problems
    assert wrong in problem.key
    assert "there is no such key" in problem.text
    # what the wrong word is not near enough to be taken for is missing besides
    assert [(other.key.rpartition(".")[2], other.text) for other in others] in ([], [(word, "is missing")])
