import re
from typing import Any

import pytest
from msgspec.structs import replace

from tracetax.report import headline as headlines
from tracetax.report.views import views
from tracetax.results.findings import ConfigurationFinding, Findings

from .sample_findings import sample_findings
from .variants import with_builds


def verdict(findings: Findings) -> str | None:
    return headlines.verdict(findings, views(findings))


def with_interval(findings: Findings, name: str, low: float, high: float) -> Findings:
    """The findings with this interval for a measure of every row."""
    rows = tuple(
        replace(
            row,
            measures=tuple(
                replace(of, estimate=(low + high) / 2, ci95=(low, high)) if of.name == name else of
                for of in row.measures
            ),
        )
        for row in findings.configurations
    )
    return replace(findings, configurations=rows)


def only(findings: Findings, part: str) -> Findings:
    parts = tuple(one for one in findings.experiment.parts if one.name == part)
    rows = tuple(row for row in findings.configurations if row.part == part)
    return replace(findings, experiment=replace(findings.experiment, parts=parts), configurations=rows)


Costs = dict[str, tuple[float, float]]
"""By agent: CPU and delay, µs per invocation."""


def compared(costs: Costs, cpu: dict[str, int], delay: dict[str, int], by: str = "cpu", **changes: Any) -> Findings:
    """Invented findings of one part at a rate: these agents, their costs, and their ranks by either cost."""
    findings = only(sample_findings(), "at-rate")
    base, model = findings.configurations[:2]

    def row(agent: str) -> ConfigurationFinding:
        charged, added = costs[agent]
        measures = tuple(
            replace(of, estimate=value, ci95=(value * 0.9, value * 1.1))
            if (value := {"cpu": charged * 1e3, "overhead": added * 1e3}.get(of.name)) is not None
            else of
            for of in model.measures
        )
        ranks = {name: found[agent] for name, found in (("cpu", cpu), ("overhead", delay)) if found}
        named = {"agent": agent.lower(), "agent_name": agent, "configuration": "stock", "title": "as shipped"}
        return replace(model, **(named | changes), measures=measures, ranks=ranks, rank=ranks.get(by))

    rank_by: Any = by
    experiment = replace(findings.experiment, rank_by=rank_by)
    return replace(findings, experiment=experiment, configurations=(base, *map(row, costs)))


def headline(costs: Costs, cpu: dict[str, int], delay: dict[str, int], by: str = "cpu", **changes: Any) -> str:
    text = verdict(compared(costs, cpu, delay, by, **changes))
    assert text is not None
    assert len(text.split()) <= 20, text
    return text


TWO = {"Alpha": (2.95, 1.22), "Beta": (5.5, 0.7461)}
THREE = {"Alpha": (2.0, 1.0), "Beta": (3.0, 2.0), "Gamma": (4.0, 0.5)}


def test_where_cpu_and_delay_order_differently_both_are_said() -> None:
    text = headline(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 2, "Beta": 1})
    assert text == (
        "At 1,000 calls/s, Alpha takes less CPU per invocation (3.0 against 5.5 µs), Beta delays less (0.75 against "
        "1.2 µs)."
    )


def test_what_ranks_is_said_first() -> None:
    text = headline(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 2, "Beta": 1}, "overhead")
    assert text == (
        "At 1,000 calls/s, Beta delays less per invocation (0.75 against 1.2 µs), Alpha takes less CPU (3.0 against "
        "5.5 µs)."
    )


def test_what_is_cheaper_by_both_is_said_once() -> None:
    text = headline({"Alpha": (2.95, 0.5), "Beta": (5.5, 0.75)}, {"Alpha": 1, "Beta": 2}, {"Alpha": 1, "Beta": 2})
    assert text == (
        "At 1,000 calls/s, Alpha costs less than Beta: CPU 3.0 against 5.5 µs, delay 0.50 against 0.75 µs per "
        "invocation."
    )


@pytest.mark.parametrize("by", ["cpu", "overhead"])
@pytest.mark.parametrize("delay", [{"Alpha": 1, "Beta": 2}, {"Alpha": 2, "Beta": 1}, {"Alpha": 1, "Beta": 1}])
@pytest.mark.parametrize("cpu", [{"Alpha": 1, "Beta": 2}, {"Alpha": 1, "Beta": 1}])
def test_two_rows_are_never_most_nor_least(cpu: dict[str, int], delay: dict[str, int], by: str) -> None:
    assert not re.search(r"\b(most|least)\b", headline(TWO, cpu, delay, by))


def test_a_tie_is_said_to_be_one_and_names_no_winner() -> None:
    by_delay = headline(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 1, "Beta": 1})
    assert by_delay == (
        "At 1,000 calls/s, Alpha takes less CPU per invocation (3.0 against 5.5 µs); their delays cannot be told apart."
    )
    by_cpu = headline(TWO, {"Alpha": 1, "Beta": 1}, {"Alpha": 2, "Beta": 1})
    assert by_cpu == (
        "At 1,000 calls/s, Beta delays less per invocation (0.75 against 1.2 µs); their CPU cannot be told apart."
    )
    both = headline(TWO, {"Alpha": 1, "Beta": 1}, {"Alpha": 1, "Beta": 1})
    assert both == "At 1,000 calls/s, Alpha and Beta cannot be told apart, neither by CPU nor by delay."


def test_of_three_the_cheapest_by_each_is_named() -> None:
    text = headline(THREE, {"Alpha": 1, "Beta": 2, "Gamma": 3}, {"Alpha": 2, "Beta": 3, "Gamma": 1})
    assert text == (
        "At 1,000 calls/s, of three, Alpha takes least CPU per invocation (2.0 µs), Gamma delays least (0.50 µs)."
    )
    same = headline(THREE, {"Alpha": 1, "Beta": 2, "Gamma": 3}, {"Alpha": 1, "Beta": 2, "Gamma": 3})
    assert same == "At 1,000 calls/s, of three, Alpha takes least CPU and delays least: 2.0 and 1.0 µs per invocation."


def test_of_three_a_shared_first_place_names_both_and_a_tie_of_all_none() -> None:
    text = headline(THREE, {"Alpha": 1, "Beta": 1, "Gamma": 3}, {"Alpha": 1, "Beta": 1, "Gamma": 1})
    assert text == (
        "At 1,000 calls/s, of three, Alpha and Beta share the least CPU (2.0, 3.0 µs); delays cannot be told apart."
    )
    four = {**THREE, "Delta": (5.0, 3.0)}
    first = {"Alpha": 1, "Beta": 1, "Gamma": 1, "Delta": 4}
    text = headline(four, first, {"Alpha": 1, "Beta": 2, "Gamma": 3, "Delta": 4})
    assert text == "At 1,000 calls/s, of four, three share the least CPU; Alpha delays least per invocation (1.0 µs)."


def test_one_row_is_compared_with_nothing() -> None:
    text = headline({"Alpha": (2.95, 1.22)}, {"Alpha": 1}, {"Alpha": 1})
    assert text == "At 1,000 calls/s, Alpha takes 3.0 µs of CPU and adds 1.2 µs of delay per invocation."


def test_the_only_row_that_delivers_is_said_to_be_the_only_one() -> None:
    findings = compared({"Alpha": (2.95, 1.22)}, {"Alpha": 1}, {"Alpha": 1})
    drops = replace(findings.configurations[1].records, received=5, blocks_incomplete=1)
    other = replace(findings.configurations[1], agent="beta", delivery="lossy", records=drops, rank=None, ranks={})
    text = verdict(replace(findings, configurations=(*findings.configurations, other)))
    assert text == "At 1,000 calls/s, only Alpha delivers every record: 3.0 µs of CPU, 1.2 µs of delay per invocation."


def test_without_ranks_by_the_other_cost_only_the_ranked_one_is_told() -> None:
    text = headline(TWO, {"Alpha": 1, "Beta": 2}, {})
    assert text == "At 1,000 calls/s, Alpha takes less CPU per invocation (3.0 against 5.5 µs)."
    text = headline(TWO, {}, {"Alpha": 2, "Beta": 1}, "overhead")
    assert text == "At 1,000 calls/s, Beta delays less per invocation (0.75 against 1.2 µs)."


def test_configurations_of_one_agent_are_told_by_their_titles_or_where_these_are_long_their_keys() -> None:
    findings = compared(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 2, "Beta": 1})
    base, *pair = findings.configurations

    def titled(titles: tuple[str, str]) -> str:
        rows = (
            replace(row, agent="alpha", agent_name="Alpha", configuration=key, title=title)
            for row, title, key in zip(pair, titles, ("first", "second"), strict=True)
        )
        return verdict(replace(findings, configurations=(base, *rows))) or ""

    assert "TCP takes less CPU per invocation (3.0 against 5.5 µs), file delays less" in titled(("TCP", "file"))
    text = titled(("a queue as large as the run", "a file that is not flushed"))
    assert len(text.split()) <= 20
    assert "first takes less CPU" in text
    assert "second delays less" in text


def test_a_cost_that_was_not_shown_is_at_most_its_limit() -> None:
    findings = with_interval(compared(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 2, "Beta": 1}), "overhead", -200.0, 600.0)
    assert "(≤0.60 against ≤0.60 µs)" in (verdict(findings) or "")


def test_where_calls_are_cut_cpu_is_told_per_record() -> None:
    findings = compared(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 1, "Beta": 1})
    base, *pair = findings.configurations
    cut = tuple(replace(row, records=replace(row.records, truncated=7)) for row in pair)
    assert "takes less CPU per record" in (verdict(replace(findings, configurations=(base, *cut))) or "")


def test_the_verdict_is_of_the_part_at_a_rate_where_there_is_one() -> None:
    text = verdict(sample_findings()) or ""
    assert text.startswith("At 1,000 calls/s, Kieker costs less than OpenTelemetry: CPU 0.56 against 1.2 µs")
    assert (verdict(only(sample_findings(), "full-speed")) or "").startswith("At full speed, Kieker costs less")


def test_a_delay_without_the_export_is_marked_in_the_verdict() -> None:
    text = headline(TWO, {"Alpha": 1, "Beta": 2}, {"Alpha": 2, "Beta": 1}, deferred=True)
    assert "Beta (deferred) delays less" in text


def test_where_nothing_delivers_everything_nothing_is_called_cheapest() -> None:
    findings = only(sample_findings(), "full-speed")
    dropping = tuple(row for row in findings.configurations if row.rank is None)
    text = verdict(replace(findings, configurations=dropping))
    assert text == (
        "At full speed, the one configuration that should record everything does not deliver every record; "
        "nothing is ranked."
    )


def test_a_comparison_of_builds_is_the_verdict() -> None:
    findings = with_builds(sample_findings())
    assert verdict(findings) == findings.comparisons[0].text
    twice = replace(findings, comparisons=(*findings.comparisons, replace(findings.comparisons[0], verdict="same")))
    assert verdict(twice) == "new.jar against old.jar, two comparisons: slower in one, no different in one."
    alike = replace(findings, comparisons=findings.comparisons * 2)
    assert verdict(alike) == "new.jar against old.jar, two comparisons: slower in both."
