"""What functions cost beyond what a service does: a cold start in parts, time inside the function, and money."""

from msgspec import Struct

from tracetax.kinds.functions import FunctionParameters
from tracetax.report import numbers
from tracetax.report.views import PartView, baseline_title, errors, half_width, measure, title_of
from tracetax.results.findings import ConfigurationFinding, Measure, MeasureName

NONE = "–"
COLD: tuple[tuple[str, MeasureName], ...] = (
    ("runtime", "start_runtime"),
    ("agent's set-up", "start_agent"),
    ("imports", "start_imports"),
    ("host ready", "start_ready"),
    ("first invocation", "start_invocation"),
)
MS = 1e6


class FunctionLine(Struct, frozen=True):
    """A row of the table."""

    row: ConfigurationFinding
    name: str
    cells: tuple[str, ...]


class FunctionTable(Struct, frozen=True):
    """The table of one part."""

    view: PartView
    title: str
    heads: tuple[str, ...]
    lines: tuple[FunctionLine, ...]
    meaning: str


def function_tables(parts: list[PartView]) -> list[FunctionTable]:
    """A table for each part that measured a function; none of other kinds."""
    tables = [
        _table(view, view.part.parameters) for view in parts if isinstance(view.part.parameters, FunctionParameters)
    ]
    return [table for table in tables if table.lines]


def _table(view: PartView, parameters: FunctionParameters) -> FunctionTable:
    rows = [row for row in (*view.baselines, *view.rows) if not errors(row) and measure(row, "inside_time")]
    money = f"a million, {parameters.price.currency}"
    memory = f"{parameters.billed_bytes / 2**20:,.0f} MiB"
    limit = "the limit" if parameters.memory_bytes else "no limit is set"
    paid = (
        f"Money: a million invocations of that length with {memory} ({limit}), at {parameters.price.per_gb_second:g} "
        f"{parameters.price.currency} per GB-second and {parameters.price.per_million:g} per million "
        f"({parameters.price.source}); no rounding up."
    )
    if parameters.cold:
        heads = ("whole", *(name for name, _ in COLD), money)
        told = "From the start of the process to its first answer, ms; the parts add up to the whole."
        title = f"What a cold start of {parameters.function} consists of, ms"
        cells = _cold_cells
    else:
        heads = ("inside, ms", "p99 inside, ms", "records", "bytes", money)
        told = "Inside: what the function says of its own work, its requests to others included, its host's not."
        title = f"Inside the function {parameters.function}"
        cells = _warm_cells
    lines = tuple(FunctionLine(row, _name(row), cells(row)) for row in rows)
    return FunctionTable(view, title, heads, lines, f"{told} In brackets: less the baselines'. {paid}")


def _name(row: ConfigurationFinding) -> str:
    return f"{row.agent_name}, {baseline_title(row) if row.is_baseline else title_of(row)}"


def _cold_cells(row: ConfigurationFinding) -> tuple[str, ...]:
    parts = (NONE if row.is_baseline and name == "start_agent" else _amount(measure(row, name), MS) for _, name in COLD)
    whole = _with_added(measure(row, "service_time"), measure(row, "overhead", "call"), MS)
    return (whole, *parts, _money(row))


def _warm_cells(row: ConfigurationFinding) -> tuple[str, ...]:
    return (
        _with_added(measure(row, "inside_time"), measure(row, "inside_time_added"), MS),
        _amount(measure(row, "inside_time_p99"), MS),
        _amount(measure(row, "records_per_call"), 1.0),
        _amount(measure(row, "bytes_per_call"), 1.0),
        _money(row),
    )


def _money(row: ConfigurationFinding) -> str:
    return _with_added(measure(row, "price_million"), measure(row, "price_million_added"), 1.0)


def _with_added(of: Measure | None, added: Measure | None, unit: float) -> str:
    text = _amount(of, unit)
    if added is None:
        return text
    sign = "+" if added.estimate >= 0 else ""
    return f"{text} ({sign}{_amount(added, unit)})"


def _amount(of: Measure | None, unit: float) -> str:
    if of is None:
        return NONE
    half = half_width(of)
    value, margin = numbers.measured(of.estimate / unit, None if half is None else half / unit)
    return f"{value} ± {margin}" if margin else value
