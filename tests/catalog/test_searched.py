"""What ``./tracetax capacity`` searches, from its options."""

from typing import Any

import pytest

from tests.catalog.conftest import Repository, searched
from tests.settings import java_settings
from tracetax.catalog import CatalogError, every_agent
from tracetax.catalog.command_line import TypedSearch
from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Search, Use


def test_each_stock_configuration_is_a_part_that_begins_at_full_speed(repository: Repository) -> None:
    experiment, search = searched(
        every_agent(repository.root).of("java"), TypedSearch(agent="tracer", depth=4, budget="5min")
    )
    (part,) = experiment.parts
    assert part.uses == (Use("tracer", "stock"),)
    assert part.parameters == TreeParameters(calls=200_000, depth=4)
    assert (part.name, part.title) == ("tracer-stock", "Tracer (as shipped)")
    assert experiment.schedule.budget_ns == 300 * 10**9
    assert search == Search()


def test_configurations_can_be_named_and_crossed_with_jvm_settings(repository: Repository) -> None:
    experiment, search = searched(
        every_agent(repository.root).of("java"),
        TypedSearch(
            agent="tracer", configuration="lossless,stock", jdk="17,21", seconds="2s", lowest="50/s", further=10
        ),
    )
    assert [(part.name, part.settings) for part in experiment.parts] == [
        ("tracer-lossless-jdk-17", java_settings(1 << 30, jdk=17)),
        ("tracer-lossless-jdk-21", java_settings(1 << 30, jdk=21)),
        ("tracer-stock-jdk-17", java_settings(1 << 30, jdk=17)),
        ("tracer-stock-jdk-21", java_settings(1 << 30, jdk=21)),
    ]
    assert search == Search(seconds=2.0, lowest=50.0, further=10)


def test_the_lowest_rate_is_one_that_can_be_tried(repository: Repository) -> None:
    known = every_agent(repository.root).of("java")
    _, search = searched(known, TypedSearch(agent="tracer", lowest="1006/s"))
    assert search.lowest == 1_010.0


@pytest.mark.parametrize(
    ("agent", "configuration", "options", "key", "text"),
    [
        ("tracre", None, {}, "--agent", 'Did you mean "tracer"'),
        ("none", "baseline", {}, "--agent", "delivers no records"),
        ("none", None, {}, "--agent", "is in every block without being named"),
        ("tracer", "stokc", {}, "--configuration", 'Did you mean "stock"'),
        ("tracer", "off", {}, "--configuration", "promises no record one by one.*Of tracer's, .*stock.* do"),
        ("tracer", None, {"lowest": "full"}, "--lowest", "is tried in any case"),
        ("tracer", None, {"lowest": "10"}, "--lowest", "needs a unit"),
        ("tracer", None, {"seconds": "5"}, "--seconds", "needs a unit"),
        ("tracer", None, {"seconds": "999ms"}, "--seconds", "a second at least"),
        ("tracer", None, {"usage": "75 % of 1 core"}, "--usage", "is about a service, and calltree/java is none"),
        ("tracer", None, {"usage": "75 %"}, "--usage", "75 % of 1 core"),
        ("tracer", None, {"further": 0}, "--further", "must be between 1 and"),
        ("tracer", None, {"jdk": "7"}, "--jdk", "must be between 8 and"),
        ("tracer", None, {"budget": "soon"}, "--budget", "is no time"),
    ],
)
def test_a_mistake_is_reported_by_its_option(
    repository: Repository,
    agent: str,
    configuration: str | None,
    options: dict[str, Any],
    key: str,
    text: str,
) -> None:
    with pytest.raises(CatalogError, match=f"(?s){key}: .*{text}"):
        searched(
            every_agent(repository.root).of("java"), TypedSearch(agent=agent, configuration=configuration, **options)
        )
