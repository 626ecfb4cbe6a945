"""What receiving costs: a real backend against the sink, on the same cores, in the same blocks."""

from tracetax.analysis.statements import condition, name_of, rounded, row_key
from tracetax.results.findings import ConfigurationFinding, Findings, Measure, Statement, find_measure
from tracetax.words import plural


def receivers(findings: Findings) -> tuple[Statement, ...]:
    """A sentence for every row that was measured at a backend as well as at the sink."""
    result: list[Statement] = []
    for part in findings.experiment.parts:
        rows = [row for row in findings.configurations if row.part == part.name]
        for row in (row for row in rows if row.backend):
            twin = next((other for other in rows if _alike(other, row)), None)
            own = find_measure(row, "receiver_cpu", "record")
            sink = find_measure(twin, "receiver_cpu", "record") if twin else None
            if twin is None or own is None or sink is None or sink.estimate <= 0:
                continue
            times = rounded(own.estimate / sink.estimate)
            blocks = plural(own.n_blocks, "block")
            text = (
                f"{condition(part)}, {row.backend_name} takes {_ns(own)} of CPU to receive a record of "
                f"{name_of(twin)}, the sink {_ns(sink)} on the same cores: {times} times as much ({blocks})."
            )
            rests_on = (row_key(row), row_key(twin))
            identity = f"{part.name}-{row.agent}-{row.configuration}{f'-{row.build}' if row.build else ''}"
            result.append(Statement(id=f"{identity}-{row.backend}-receives", text=text, rests_on=rests_on))
    return tuple(result)


def _alike(other: ConfigurationFinding, row: ConfigurationFinding) -> bool:
    """Whether a row is the same at the sink."""
    same = (other.agent, other.configuration, other.build) == (row.agent, row.configuration, row.build)
    return same and not other.backend


def _ns(of: Measure) -> str:
    if of.ci95 is None:
        return f"{rounded(of.estimate)} ns"
    half = (of.ci95[1] - of.ci95[0]) / 2
    return f"{rounded(of.estimate, like=half)} ± {rounded(half)} ns"
