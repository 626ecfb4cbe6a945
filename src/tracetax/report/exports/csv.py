"""CSV: one row per configuration and measure, in base units (ns, bytes, 1), with all that identifies it."""

import csv
import io

from tracetax.kinds import declaration_of
from tracetax.printable import printable
from tracetax.report.views import ranked_by
from tracetax.results.findings import ConfigurationFinding, Findings, Measure

PARAMETERS = (
    *("calls", "depth", "rate", "method_time_ns", "threads", "wait", "start_up_methods", "start_up_monitored"),
    "start_up_built",
)
"""Empty where the kind of the calls has no such parameter."""
COLUMNS = (
    *(
        "run",
        "experiment",
        "tool_version",
        "started_at",
        "cpu",
        "cores",
        "java",
        "java_kind",
        "collector",
        "part",
        "agent",
        "version",
        "artifact_sha256",
        "build",
        "backend",
    ),
    *("configuration", "technology", "title", "profile", "delivery", "layers", "heap_bytes"),
    *PARAMETERS,
    *("rank", "deferred", "records_expected", "records_received", "completeness", "verdicts"),
    *(
        "measure",
        "unit",
        "per",
        "estimate",
        "sd",
        "ci95_low",
        "ci95_high",
        "n_blocks",
        "paired_with",
        "labels",
        "ranks",
    ),
    *("runtime", "settings", "workload"),
)


FORMULAS = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula, and would execute. An apostrophe before it makes it text."""


def export(findings: Findings) -> str:
    """A header and the rows; what does not exist is empty, lists are joined by ``+``.

    The measure that a ranked row is ranked by comes first, and has ``ranks``. Text that a spreadsheet would execute has
    an apostrophe before it.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    by = ranked_by(findings)
    for row in findings.configurations:
        keys, platform = _keys(findings, row), _platform(findings, row)
        ordered = sorted(row.measures, key=lambda of: not _ranks(of, row, by))
        measures = [(*_measure(of), _ranks(of, row, by)) for of in ordered] or [("",) * 11]
        writer.writerows([_cell(value) for value in (*keys, *values, *platform)] for values in measures)
    return file.getvalue()


def _cell(value: object) -> object:
    """Text in one line that no spreadsheet takes for a formula; what is no text stays as it is."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(FORMULAS) else text


def _keys(findings: Findings, row: ConfigurationFinding) -> tuple[object, ...]:
    experiment, parameters, records = findings.experiment, row.parameters, row.records
    return (
        *(experiment.run, experiment.key, findings.tool_version, experiment.started_at),
        *(findings.machine.get(fact) for fact in ("cpu", "cores")),
        *((str(row.ran_on), row.java.kind) if row.java else ("" if row.ran_on else findings.machine.get("java"), "")),
        row.collector,
        *(row.part, row.agent, row.version, row.artifact_sha256, row.build, row.backend_name),
        *(row.configuration, row.technology, row.title, row.profile),
        *(row.delivery, "+".join(row.layers), row.heap_bytes),
        *(getattr(parameters, name, "") for name in PARAMETERS),
        *(row.rank, row.deferred, records.expected, records.received, records.completeness),
        "+".join(dict.fromkeys(verdict.code for verdict in row.verdicts)),
    )


def _platform(findings: Findings, row: ConfigurationFinding) -> tuple[object, ...]:
    """What a row's trials ran on, what was set of it (``heap=1073741824+collector=G1``), and the program."""
    parts = [part for part in findings.experiment.parts if part.name == row.part]
    settings = (f"{name}={value}" for part in parts for name, value in part.settings.items())
    return (str(row.ran_on or ""), "+".join(settings), parts[0].workload)


def _ranks(of: Measure, row: ConfigurationFinding, by: str) -> bool:
    """Whether this is the measure that a row's rank follows."""
    kind = declaration_of(row.parameters)
    return row.rank is not None and (of.name, of.per) == (by, kind.charged_per if by == "cpu" else kind.unit)


def _measure(of: Measure) -> tuple[object, ...]:
    low, high = of.ci95 or (None, None)
    labels = "+".join(of.labels)
    return (of.name, of.unit, of.per, of.estimate, of.sd, low, high, of.n_blocks, of.paired_with, labels)
