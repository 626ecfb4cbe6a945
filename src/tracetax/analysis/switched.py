"""What switching one instrumentation off leaves of an agent: of its records, and of the CPU that it adds.

The parts do not add up to the whole: one instrumentation takes over where another is off, and one that is off may
silence those below it. So each is told by itself, and no sum.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tracetax.agent import without_name
from tracetax.analysis.statements import row_key, two_digits
from tracetax.model import Agent, Part, Use
from tracetax.results import blocks as arranged
from tracetax.results.blocks import Blocks, charged_per_call
from tracetax.results.findings import ConfigurationFinding, Statement, SwitchFinding
from tracetax.results.manifest import Manifest
from tracetax.statistics.fieller import ratio_of_means
from tracetax.statistics.intervals import Estimate
from tracetax.statistics.overhead import compare_paired


def switch_findings(
    manifest: Manifest, rows: Sequence[ConfigurationFinding], blocks: Blocks
) -> tuple[SwitchFinding, ...]:
    """One for each configuration in which one instrumentation is off, in the order of their parts."""
    return tuple(found for part in manifest.experiment.parts for found in _of_part(part, manifest.agents, rows, blocks))


def switch_statements(findings: Sequence[SwitchFinding], rows: Sequence[ConfigurationFinding]) -> tuple[Statement, ...]:
    """A sentence for each; behind the last one, that they do not add up."""
    told: list[Statement] = []
    keys = {(row.part, row.agent, row.configuration): row_key(row) for row in rows}
    for one in findings:
        whole, off = keys[one.part, one.agent, one.whole], keys[one.part, one.agent, one.configuration]
        text = f"{one.title}: {_left(one)}, and {_saved(one)}."
        told.append(Statement(id=f"{off.replace('/', '-')}-leaves", text=text, rests_on=(whole, off)))
    if len(told) > 1:
        text = "What single instrumentations save does not add up: one takes over for another, or silences it."
        told.append(Statement(id="switches-do-not-add-up", text=text, rests_on=told[-1].rests_on))
    return tuple(told)


def _of_part(
    part: Part, agents: dict[str, Agent], rows: Sequence[ConfigurationFinding], blocks: Blocks
) -> Iterator[SwitchFinding]:
    cells = arranged.configuration_cells(blocks, part.name)
    own = {Use(row.agent, row.configuration): row for row in rows if row.part == part.name}
    for use in part.uses:
        agent = agents[part.agent_key(use.agent)]
        config = agent.configurations[use.configuration]
        whole = Use(use.agent, use.configuration.removesuffix(without_name("", config.without)))
        if not config.without or use not in cells or whole not in cells:
            continue
        with_all = arranged.paired(blocks, cells[whole], charged_per_call).known()
        off = arranged.paired(blocks, cells[use], charged_per_call).known()
        both = sorted(set(with_all.blocks) & set(off.blocks))
        if not both:
            continue
        columns = {
            name: np.array([of.values[of.blocks.index(number)] for number in both])
            for name, of in (("all", with_all), ("off", off))
        }
        baselines = (with_all.baseline_1 + with_all.baseline_2) / 2
        baseline = np.array([baselines[with_all.blocks.index(number)] for number in both])
        yield SwitchFinding(
            part=part.name,
            agent=use.agent,
            whole=whole.configuration,
            configuration=use.configuration,
            without=config.without,
            title=f"{agent.name} ({config.title})",
            records_whole=_records_of_request(own[whole]),
            records=_records_of_request(own[use]),
            cpu_saved_ns=compare_paired(columns["all"], columns["off"]),
            cpu_left=ratio_of_means(columns["off"] - baseline, columns["all"] - baseline),
        )


def _records_of_request(row: ConfigurationFinding) -> float:
    """Records that arrived of a request."""
    requests = row.records.calls
    return row.records.received / requests if requests else 0.0


def _left(one: SwitchFinding) -> str:
    if not round(one.records, 1):
        return f"none of {one.records_whole:.3g} records of a request is left"
    verb = "is" if f"{one.records:.3g}" == "1" else "are"
    return f"{one.records:.3g} of {one.records_whole:.3g} records of a request {verb} left"


def _saved(one: SwitchFinding) -> str:
    """How much of the CPU that the agent adds is left, or why that cannot be told."""
    saved, left = one.cpu_saved_ns, one.cpu_left
    if left is None or left.ci95 is None:
        return "what that leaves of the CPU that it adds cannot be told: it adds too little for so few blocks"
    low, high = left.ci95
    share = f"{two_digits(100 * left.mean)} % of the CPU that it adds"
    within = f"{two_digits(100 * low)} to {two_digits(100 * high)} %"
    return f"{share} ({within}): {_microseconds(saved)} less per request"


def _microseconds(of: Estimate) -> str:
    half = of.half_width
    return f"{two_digits(of.mean / 1e3, like=half / 1e3 if half else None)}" + (
        f" ± {two_digits(half / 1e3)} µs" if half else " µs"
    )
