"""The sample findings as other experiments would have them: a reproduction of a paper, a comparison of two builds."""

from typing import Any

from msgspec.structs import replace

from tracetax.kinds.calltree import TreeParameters
from tracetax.results.findings import (
    BuildComparison,
    ConfigurationFinding,
    Findings,
    GrowthFinding,
    PublishedLineValue,
    PublishedValue,
    find_measure,
)

PAPER = {"AMD Ryzen 7 5700G (x86_64)": 0.8, "Raspberry Pi 5 (ARMv8)": 2.1}


def with_published(findings: Findings) -> Findings:
    """The findings of a reproduction: what a paper printed beside the rows at full speed that it has."""

    def printed(row: ConfigurationFinding) -> ConfigurationFinding:
        time = find_measure(row, "service_time")
        if row.part != "full-speed" or row.configuration in ("otlp-lossless", "otlp-grpc") or time is None:
            return row
        values = (
            PublishedValue(platform, time.estimate * factor, 3.2, "ns", "call", f"Table 2, {row.title}")
            for platform, factor in PAPER.items()
        )
        return replace(row, published=tuple(values))

    experiment = replace(findings.experiment, paper="Reichelt et al. (2026)", rank_by="overhead")
    return replace(findings, experiment=experiment, configurations=tuple(map(printed, findings.configurations)))


def with_builds(findings: Findings) -> Findings:
    """The findings with two builds of one agent's configuration at full speed, and how they compare."""
    model = next(row for row in findings.configurations if row.part == "full-speed" and row.agent == "kieker")
    ratio, difference = find_measure(model, "overhead_ratio"), find_measure(model, "overhead", "invocation")
    assert ratio and difference
    ratio = replace(ratio, estimate=1.031, ci95=(1.024, 1.038))
    cpu = replace(ratio, name="cpu", estimate=1.05, ci95=(1.04, 1.06))
    comparison = BuildComparison(
        "full-speed", "binary-tcp", ("old.jar", "new.jar"), ratio, difference, "slower",
        "At full speed, kieker binary-tcp: new.jar is 3.1 % slower than old.jar (2.4 % to 3.8 %, 10 blocks).", "kieker",
        cpu, 0.02,
    )  # fmt: skip
    rows = tuple(
        replace(row, build=build) if row is model else row
        for row in findings.configurations
        for build in (("old.jar", "new.jar") if row is model else ("",))
    )
    return replace(findings, configurations=rows, comparisons=(comparison,))


def with_building(findings: Findings) -> Findings:
    """The findings of parts that differ in how many methods are monitored at the start, each trial building its own."""
    places = {part.name: place for place, part in enumerate(findings.experiment.parts)}

    def parameters(part: str) -> TreeParameters:
        monitored = 500 * places[part]
        return TreeParameters(
            calls=1000, depth=10, start_up_methods=1000, start_up_monitored=monitored, start_up_built=True
        )

    def built(row: ConfigurationFinding) -> ConfigurationFinding:
        of = find_measure(row, "service_time")
        if of is None:
            return row
        added = ("_added", 4e8 * places[row.part]) if row.agent != "none" else ("", 1.2e9)
        times: tuple[tuple[Any, float], ...] = (
            (f"build_time{added[0]}", added[1]),
            (f"build_cpu{added[0]}", 2 * added[1]),
        )
        more = (
            replace(of, name=name, per="", estimate=time, ci95=(time - 3e7, time + 3e7), labels=())
            for name, time in times
        )
        return replace(row, parameters=parameters(row.part), measures=(*row.measures, *more))

    parts = tuple(replace(part, parameters=parameters(part.name)) for part in findings.experiment.parts)
    rows = tuple(map(built, findings.configurations))
    return replace(findings, experiment=replace(findings.experiment, parts=parts), configurations=rows)


def with_lines(findings: Findings) -> Findings:
    """The findings of parts that differ in depth, with a line for each configuration: a steeper one for the first."""
    depths = {part.name: 10 * (place + 1) for place, part in enumerate(findings.experiment.parts)}
    parts = tuple(
        replace(part, parameters=replace(part.parameters, depth=depths[part.name], rate="full"))
        for part in findings.experiment.parts
    )
    first = parts[0].name
    rows = [row for row in findings.configurations if row.part == first and row.agent != "none"]
    lines: list[GrowthFinding] = []
    for place, row in enumerate(rows):
        model = find_measure(row, "overhead", "invocation")
        if model is None:
            continue
        slope = 300.0 - 100 * place
        labels = ("indicative", "bent", "lost-records") if place == 0 else ("indicative",)
        lines.append(
            GrowthFinding(
                factor="depth", levels="", values=tuple(depths.values()), parts=tuple(depths), agent=row.agent,
                agent_name=row.agent_name, configuration=row.configuration, title=row.title, build="", backend="",
                backend_name="", slope=replace(model, estimate=slope, ci95=(slope - 8, slope + 8), labels=labels),
                intercept=replace(model, per="call", estimate=1234.0, ci95=(1200.0, 1268.0), labels=labels),
                r_squared=0.99987,
            )
        )  # fmt: skip
    changed = tuple(
        replace(row, parameters=replace(row.parameters, depth=depths[row.part])) for row in findings.configurations
    )
    experiment = replace(findings.experiment, parts=parts)
    return replace(findings, experiment=experiment, configurations=changed, growth=tuple(lines))


def with_printed_lines(findings: Findings) -> Findings:
    """The same, through the time of a call: the first is cut at two depths, and the second was printed, too."""
    found = with_lines(findings)
    printed = PublishedLineValue("a machine", 133.92, 13_063.42, 0.9985, "Table 3, Fake: default")
    first, second, *others = (replace(line, slope=replace(line.slope, name="service_time")) for line in found.growth)
    cut = replace(first, cut=(20.0, 30.0), slope=replace(first.slope, labels=(*first.slope.labels, "truncated")))
    return replace(found, growth=(cut, replace(second, published=(printed,)), *others))
