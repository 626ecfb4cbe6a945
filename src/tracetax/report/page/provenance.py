"""Where the numbers come from: the machine, the versions, the exact commands, and how to do it again."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from tracetax.program import RuntimeVersion
from tracetax.report import numbers
from tracetax.report.page.html import Child, Markup, caption, h, section
from tracetax.report.views import heap_words, platform_words
from tracetax.results.findings import Findings
from tracetax.results.manifest import Manifest
from tracetax.results.records import OUTSIDE_BLOCKS, Cell, TrialRecord

ACRONYMS = {"cpu": "CPU", "cpus": "CPUs", "jdk": "JDK", "numa": "NUMA", "os": "OS", "smt": "SMT"}


def machine(findings: Findings) -> Markup:
    """The section with every fact that is known about the machine."""
    return section(
        "machine",
        "The machine",
        definitions(list(facts(findings.machine))) if findings.machine else h("p", "Nothing is known about it."),
        caption("As it was when the run began.", "manifest.json"),
        folded=True,
    )


def facts(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested facts as flat pairs of a readable name and a readable value."""
    for key, value in values.items():
        name = f"{prefix}{_words(key)}"
        if isinstance(value, Mapping):
            yield from facts(cast(Mapping[str, Any], value), f"{name}: ")
        else:
            yield name, _readable(key, value)


def _words(key: str) -> str:
    for suffix in ("_bytes", "_ns"):
        key = key.removesuffix(suffix)
    return " ".join(ACRONYMS.get(word, word) for word in key.split("_"))


def _readable(key: str, value: object) -> str:
    if value is None or value == "":
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and key.endswith("_bytes"):
        return numbers.size(value)
    if isinstance(value, int | float) and key.endswith("_ns"):
        return numbers.duration(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return ", ".join(_readable("", item) for item in cast(Sequence[object], value)) or "none"
    return str(value)


def definitions(pairs: Sequence[tuple[str, Child]]) -> Markup:
    """Names and values."""
    return h("dl", [h("div", h("dt", name), h("dd", value)) for name, value in pairs])


def versions(findings: Findings, trials: list[TrialRecord]) -> Markup:
    """The section with the versions of the tool, the agents and the runtime."""
    pairs: list[tuple[str, Child]] = [("tracetax", findings.tool_version)]
    workloads = {part.name: part.workload for part in findings.experiment.parts}
    several = len(set(workloads.values())) > 1
    for row in findings.configurations:
        if not row.is_baseline:
            digest = h("code", f"sha256 {row.artifact_sha256[:16]}…", title=row.artifact_sha256)
            pairs.append(
                (
                    f"{row.agent_name}{f' in {workloads[row.part]}' if several else ''}"
                    f"{f' [{row.build}]' if row.build else ''}",
                    [row.version, " ", digest if row.artifact_sha256 else None],
                )
            )
    known = findings.experiment.runtime
    platforms = {
        part.title: platform_words(part, findings.experiment.runtime_of(part))
        for part in findings.experiment.parts
        if part.ran_on
    }
    if len(set(platforms.values())) > 1:
        pairs += list(platforms.items())
    else:
        runtime = {name: value for trial in trials for name, value in trial.versions.items()}
        pairs += list(runtime.items())
        kind = f"kind of {known.name if known else 'runtime'}"
        pairs += [(kind, _kind(part.ran_on)) for part in findings.experiment.parts if part.ran_on]
    return section(
        "versions", "Versions", definitions(list({name: (name, value) for name, value in pairs}.values())), folded=True
    )


def _kind(version: RuntimeVersion) -> str:
    archives = {True: "with a class-data archive", False: "without class-data archive", None: ""}
    return ", ".join(text for text in (version.name, archives[version.archive], version.home) if text)


def commands(findings: Findings, trials: list[TrialRecord]) -> Markup:
    """The section with the exact command line of one trial per configuration, and what its environment was."""
    titles = {part.name: part.title for part in findings.experiment.parts}
    runtimes = {part.name: findings.experiment.runtime_of(part) for part in findings.experiment.parts}
    first: dict[Cell, TrialRecord] = {}
    for trial in (trial for trial in trials if trial.cell.role not in OUTSIDE_BLOCKS):
        first.setdefault(trial.cell.row, trial)
    order = {row.cell: place for place, row in enumerate(findings.configurations)}
    items: list[Markup] = []
    for cell in sorted(first, key=lambda cell: order.get(cell, len(order))):
        trial = first[cell]
        places = (titles.get(cell.part, cell.part), heap_words(cell.heap_bytes), f"trial {trial.number}")
        where = " · ".join(place for place in places if place)
        runtime = runtimes.get(cell.part)
        process = runtime.process if runtime else "process"
        environment = "".join(f"{name}={shlex.quote(value)}\n" for name, value in sorted(trial.environment.items()))
        items.append(
            h(
                "details",
                h("summary", h("span", cell.label, class_="agent"), " ", h("span", where, class_="muted")),
                h("pre", h("code", environment, shlex.join(trial.command)), tabindex=0),
                [h("p", f"Final flags of the {process}"), h("pre", h("code", trial.jvm_flags), tabindex=0)]
                if trial.jvm_flags
                else None,
            )
        )
    return section(
        "commands",
        "The exact commands",
        items or h("p", "No trial was started."),
        caption(
            "Environment and command of one trial per configuration. Beyond that only path, home, time zone, temporary "
            "folder and locale were passed on."
        ),
        folded=True,
    )


def reproduction(findings: Findings, manifest: Manifest | None, better: tuple[str, str] | None) -> Markup:
    """The section that says how to do it again, and how to make it narrower."""
    experiment = findings.experiment
    lines = [("Run", shlex.join(experiment.command)), ("Seed", str(experiment.seed))]
    again = [*experiment.command, *([] if "--seed" in experiment.command else ["--seed", str(experiment.seed)])]
    lines.append(("The same order again", shlex.join(again)))
    lines += [better] if better else []
    if manifest and len(manifest.invocations) > 1:
        lines.append(
            ("Resumed", "once" if len(manifest.invocations) == 2 else f"{len(manifest.invocations) - 1} times")
        )
    if manifest and manifest.inherited:
        lines.append(("Found and not passed on", ", ".join(manifest.inherited)))
    pairs: list[tuple[str, Child]] = [(name, h("code", value)) for name, value in lines]
    return section("reproduce", "How to reproduce it", definitions(pairs), folded=True)
