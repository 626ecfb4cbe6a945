from msgspec.structs import replace

from tracetax.report import sentences
from tracetax.report.views import views
from tracetax.results.findings import Findings

from .sample_findings import many_samples, sample_findings
from .variants import with_builds


def verdict(findings: Findings) -> str | None:
    return sentences.verdict(findings, views(findings))


def service(findings: Findings) -> str:
    text = sentences.service(views(findings))
    assert text is not None
    return text


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


def test_the_verdict_is_of_the_part_at_a_rate_where_there_is_one() -> None:
    text = verdict(sample_findings())
    assert text is not None
    assert text.startswith("At 10,000 invocations per second, Kieker (binary TCP) costs least CPU")
    assert text.endswith("OpenTelemetry (OTLP, as shipped) costs most: 1,179 ± 23 ns and 871 ± 19 ns.")
    assert (verdict(only(sample_findings(), "full-speed")) or "").startswith("Back to back, Kieker")


def test_the_verdict_follows_what_the_experiment_ranks_by() -> None:
    findings = sample_findings()
    findings = replace(findings, experiment=replace(findings.experiment, rank_by="overhead"))
    assert "Kieker (binary TCP) adds least to a call of the two" in (verdict(findings) or "")


def test_what_is_deferred_is_said_to_be_so_in_the_verdict() -> None:
    assert "(most records arrive after the last call)" in (verdict(only(sample_findings(), "full-speed")) or "")


def test_ties_are_not_told_as_an_order() -> None:
    findings = only(sample_findings(), "at-rate")
    tied = tuple(replace(row, rank=1 if row.rank else None) for row in findings.configurations)
    text = verdict(replace(findings, configurations=tied)) or ""
    assert "the two that deliver every record cannot be told apart" in text
    assert "least" not in text


def test_where_nothing_delivers_everything_nothing_is_called_cheapest() -> None:
    findings = only(sample_findings(), "full-speed")
    dropping = tuple(row for row in findings.configurations if row.rank is None)
    text = verdict(replace(findings, configurations=dropping))
    assert text == (
        "Back to back, the one configuration that should record everything does not deliver every record; "
        "nothing is ranked."
    )


def test_a_comparison_of_builds_is_the_verdict() -> None:
    findings = with_builds(sample_findings())
    assert verdict(findings) == findings.comparisons[0].text
    twice = replace(findings, comparisons=(*findings.comparisons, replace(findings.comparisons[0], verdict="same")))
    assert verdict(twice) == "new.jar against old.jar, two comparisons: slower in one, no different in one."
    alike = replace(findings, comparisons=findings.comparisons * 2)
    assert verdict(alike) == "new.jar against old.jar, two comparisons: slower in both."


def test_what_a_service_pays_is_at_the_rate_that_was_measured() -> None:
    text = service(only(sample_findings(samples=many_samples(2)), "rate-4000"))
    assert text.startswith("A service with 100 traced methods per request at 400 requests/s pays")


def test_a_cost_that_was_not_shown_is_told_as_at_most() -> None:
    text = service(with_interval(sample_findings(), "overhead", -2.0, 6.0))
    assert "pays at most 600 ns per request and 0.558 ± 0.013 % of a core" in text
    text = service(with_interval(sample_findings(), "cpu", -5.0, 9.0))
    assert "and at most 0.0090 % of a core with Kieker" in text


def test_of_many_only_the_first_and_the_last_are_named() -> None:
    text = service(sample_findings(samples=many_samples(25)))
    assert text.count(" with ") == 1 + 2
    assert text.endswith("(23 others lie between).")


def test_a_run_without_a_rate_says_nothing_of_services() -> None:
    findings = only(sample_findings(), "full-speed")
    assert sentences.service(views(findings)) is None
