"""Markdown: a compact table to paste into a pull request, with what makes its numbers mean something."""

from collections.abc import Iterator

from tracetax.printable import printable
from tracetax.report import headline, lines, numbers
from tracetax.report.decision import BEST, MEANING, ChoiceTable, decision
from tracetax.report.functions import FunctionTable, function_tables
from tracetax.report.headline import Cost
from tracetax.report.kinds import call_noun, charged_words
from tracetax.report.views import (
    NO_RESULT,
    STOPPED,
    Group,
    PartView,
    building_words,
    cpu,
    errors,
    group_heading,
    half_width,
    labels,
    measure,
    measured_time,
    overhead,
    p99_of_call,
    platform_words,
    promises,
    ranked_by,
    time_of_call,
    title_of,
    unit_of,
    views,
    workload_words,
)
from tracetax.report.workloads import WorkloadTable, workload_tables
from tracetax.results.findings import ConfigurationFinding, Findings, GrowthFinding, Measure, MeasureName
from tracetax.words import one, plural

HASH = 12
"""Digits of an artifact's SHA-256: enough to tell builds apart."""
BUILDS: tuple[tuple[str, MeasureName], ...] = (
    ("added to the build", "build_time_added"),
    ("added to its CPU", "build_cpu_added"),
)

"""Columns of an experiment whose trials build their program."""
QUARTILES: tuple[MeasureName, ...] = ("throughput_q1", "throughput_median", "throughput_q3")
MACHINE = ("cpu", "cores", "memory_bytes", "kernel")


def export(findings: Findings) -> str:
    """The verdict, what a choice hangs on, a table per part, the machine, versions and command; no link, no HTML."""
    parts = views(findings)
    blocks = [f"**{_escaped(findings.experiment.title)}**"]
    blocks += [f"**{NO_RESULT}**"] if not findings.experiment.result else []
    first = headline.verdict(findings, parts)
    blocks += [f"**{_escaped(first)}**"] if first else []
    if len(findings.comparisons) > 1:
        blocks.append("\n".join(f"- {_escaped(comparison.text)}" for comparison in findings.comparisons))
    across = workload_tables(parts)
    blocks += ["\n".join(_across(table)) for table in across]
    choice = None if across else decision(findings, parts)
    blocks += ["\n".join(_side_by_side(choice))] if choice else []
    for view in parts:
        blocks += ["\n".join(_part(view)), "\n".join(_table(view, ranked_by(findings)))]
        blocks += ["\n".join(table)] if (table := list(_throughput(view))) else []
    blocks += ["\n".join(_functions(table)) for table in function_tables(parts)]
    blocks += ["\n".join(_lines(group)) for group in lines.by_kind(findings.growth)]
    blocks += [f"> {_escaped(verdict.text)}" for verdict in findings.verdicts if verdict.severity != "note"]
    blocks.append("\n".join(_provenance(findings)))
    return "\n\n".join(blocks) + "\n"


def _part(view: PartView) -> Iterator[str]:
    part = view.part
    platform = platform_words(part, view.runtime)
    words = f"{workload_words(part.parameters)}{f', on {platform}' if platform else ''}"
    yield f"**{_escaped(part.title)}**: {_escaped(words)}  "
    base = next((time for row in view.baselines if (time := time_of_call(row))), None)
    built = next((words for row in view.baselines if (words := building_words(row))), None)
    band = view.half_width(view.band)
    facts = [f"without an agent {one(call_noun(part))} takes {_measured(base)} ns"] if base else []
    facts += [built] if built else []
    facts += [f"A/A band ± {numbers.measured(band, band)[1]} ns per {unit_of(part)}"] if band is not None else []
    blocks = plural(part.blocks, "block")
    facts.append(f"{blocks}{', indicative' if part.indicative else ''}, {STOPPED[part.stopped]}")
    yield "; ".join(facts)


def _across(table: WorkloadTable) -> Iterator[str]:
    """What an invocation costs in each of several workloads."""
    yield f"{_escaped(table.title)}\n"
    yield f"| | {' | '.join(map(_escaped, table.heads))} |"
    yield f"| --- | {' | '.join('--:' for _ in table.heads)} |"
    for line in table.lines:
        cells = (", ".join((cost.added, *map(_escaped, cost.further))) for cost in line.costs)
        yield f"| {_escaped(line.name)} | {' | '.join(cells)} |"
    yield f"\n{table.meaning}"


def _functions(table: FunctionTable) -> Iterator[str]:
    """A cold start in parts, or time inside a function, and money."""
    yield f"{_escaped(f'{table.view.part.title}: {table.title}')}\n"
    yield f"| | {' | '.join(map(_escaped, table.heads))} |"
    yield f"| --- | {' | '.join('--:' for _ in table.heads)} |"
    for line in table.lines:
        yield f"| {_escaped(line.name)} | {' | '.join(line.cells)} |"
    yield f"\n{table.meaning}"


def _side_by_side(choice: ChoiceTable) -> Iterator[str]:
    """What a choice hangs on, a column for each configuration; what is best is bold."""
    names = (f"{_escaped(row.agent_name)}, {_escaped(title_of(row))}" for row in choice.columns)
    yield f"| | {' | '.join(names)} |"
    yield f"| --- | {' | '.join('--:' for _ in choice.columns)} |"
    for line in choice.lines:
        cells = (f"**{BEST} {cell}**" if place in line.best else cell for place, cell in enumerate(line.cells))
        yield f"| {line.label}{f' ({line.note})' if line.note else ''} | {' | '.join(cells)} |"
    notes = [MEANING] if choice.marked else []
    notes += [f"{numbers.in_words(choice.others)} more in the table below"] if choice.others else []
    if notes:
        yield f"\n{'; '.join(notes)}"


def _table(view: PartView, by: Cost) -> Iterator[str]:
    builds = [build for build in BUILDS if any(measure(row, build[1]) for row in view.rows)]
    more = "".join(f"{heading} | " for heading, _ in builds)
    costs = [f"CPU per {charged_words(view.part)}, ns", f"overhead per {unit_of(view.part)}, ns"][
        :: 1 if by == "cpu" else -1
    ]
    marked = any(row.rank is not None for row in view.rows)
    costs[0] += ", ranked by this" if marked else ""
    tail = [f"p99 of {one(call_noun(view.part))}"] if _has_tail(view) else []
    yield f"| | agent | configuration | {' | '.join((*costs, *tail, 'records'))} | {more}|"
    yield f"| --: | --- | --- | {'--: | ' * (3 + len(tail) + len(builds))}--- |"
    for group, rows in view.groups.items():
        yield f"| | *{_escaped(group_heading(group, rows))}* | {'| ' * (4 + len(tail) + len(builds))}|"
        for row in rows:
            *cells, notes = _cells(view, group, row, by)
            added = [measured_time(of) if (of := measure(row, name)) else "" for _, name in builds]
            yield f"| {' | '.join((*cells, *added, notes))} |"


def _throughput(view: PartView) -> Iterator[str]:
    """Calls per second in the columns of Waller et al. (2014); nothing at a rate, where they are what was asked for."""
    rows = [row for row in (*view.baselines, *view.rows) if measure(row, "throughput")]
    if not rows:
        return
    yield "Calls per second:\n"
    yield "| agent | configuration | mean | Q1 | median | Q3 |"
    yield "| --- | --- | --: | --: | --: | --: |"
    for row in rows:
        title = "baseline" if row.is_baseline else title_of(row)
        quartiles = [numbers.significant(of.estimate, 4) if (of := measure(row, name)) else "" for name in QUARTILES]
        cells = (_escaped(row.agent_name), _escaped(title), _measured(measure(row, "throughput")), *quartiles)
        yield f"| {' | '.join(cells)} |"


def _cells(view: PartView, group: Group, row: ConfigurationFinding, by: Cost) -> list[str]:
    rank = str(row.rank) if group is Group.DELIVERS and row.rank is not None else ""
    names = [rank, _escaped(row.agent_name), _escaped(title_of(row))]
    p99 = p99_of_call(row)
    slow = [" ".join(numbers.measured_duration(p99.estimate, half_width(p99))[::2]) if p99 else "–"]
    slow = slow if _has_tail(view) else []
    if group is Group.FAILED:
        why = [verdict.text for verdict in errors(row)] or ["no block of it was completed"]
        return [*names, "", "", *("" for _ in slow), "", _escaped(" ".join(why))]
    share = row.records.completeness
    records = numbers.percent(share) if promises(row) and share is not None else ""
    costs = [_measured(cpu(row)), _measured(overhead(row))][:: 1 if by == "cpu" else -1]
    return [*names, *costs, *slow, records, ", ".join(labels(row, view.part))]


def _has_tail(view: PartView) -> bool:
    """Whether a trial had enough calls for p99, so that it has a column."""
    return any(p99_of_call(row) for row in view.rows)


def _lines(group: tuple[GrowthFinding, ...]) -> Iterator[str]:
    """Lines through one cost over a count."""
    first = group[0]
    yield f"A line through {lines.OF[first.slope.name]}, over {lines.counted_words(first)}:\n"
    yield f"| agent | configuration | {lines.FURTHER[first.factor]} | fixed | R² | |"
    yield "| --- | --- | --: | --: | --: | --- |"
    for line in group:
        names = (_escaped(line.agent_name), _escaped(title_of(line)))
        costs = (measured_time(line.slope), measured_time(line.intercept))
        yield f"| {' | '.join((*names, *costs, lines.r_squared(line), lines.notes(line)))} |"
        for printed in line.published:
            yield f"| | {_escaped(lines.printed_title(printed))} | {' | '.join(lines.printed_cells(printed))} | |"


def _measured(of: Measure | None) -> str:
    if of is None:
        return ""
    value, margin = numbers.measured(of.estimate, half_width(of))
    return f"{value} ± {margin}" if margin else value


def _provenance(findings: Findings) -> Iterator[str]:
    told = [findings.experiment.runtime_of(part) for part in findings.experiment.parts]
    known = {key: findings.machine.get(key) for key in (*MACHINE, *(runtime.key for runtime in told if runtime))}
    memory, cores = known["memory_bytes"], known["cores"]
    known |= {
        "memory_bytes": numbers.size(memory) if memory else None,
        "cores": plural(cores, "core") if cores else None,
    }
    yield f"- Machine: {_escaped(', '.join(str(value) for value in known.values() if value))}"
    versions: dict[str, None] = {}
    measured = {part.name: part.workload for part in findings.experiment.parts}
    several = len(set(measured.values())) > 1
    for row in findings.configurations:
        if not row.is_baseline:
            digest = f" (sha256 {row.artifact_sha256[:HASH]})" if row.artifact_sha256 else ""
            where = f" in {measured[row.part]}" if several else ""
            versions[f"{row.agent_name} {row.version}{where}{digest}"] = None
    yield f"- Versions: {_escaped(', '.join((f'tracetax {findings.tool_version}', *versions)))}"
    command = printable(" ".join(findings.experiment.command)).replace("`", "'")
    yield f"- Command: `{command}`, seed {findings.experiment.seed}"
    yield "- ± is a 95 % interval over blocks; CPU is of all threads; costs are less the baselines' of the same block"


def _escaped(text: str) -> str:
    """Text in which nothing is markup and no cell ends early."""
    for letter in "\\|*_<>`[]":
        text = text.replace(letter, f"\\{letter}")
    return " ".join(printable(text).split())
