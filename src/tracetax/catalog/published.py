"""``[published]``: finds what a publication printed for the configurations that an experiment measures."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from tracetax.catalog.agent_file import Known, unknown_agent
from tracetax.catalog.experiment_shape import PublishedShape
from tracetax.catalog.reading import Report, did_you_mean, join, one_of
from tracetax.catalog.units import TIME
from tracetax.model import BASELINE, Agent, PublishedLine, PublishedRow, Use

COLUMNS = ("table", "platform", "agent", "configuration", "unit", "value", "spread", "spread_kind")
PRINTED = ("table", "value", "spread", "printed", "printed_spread", "seed_line", "note")
"""Columns that say what is printed, and where; the others say of what."""
UNINSTRUMENTED = "none"
"""How every table names the run without an agent."""
STANDARD_DEVIATION = "standard_deviation"
RATES = ("traces/s", "calls/s")
"""Units of throughput: such a value stands beside times as the time of a call, 1 s ÷ the rate."""
SECOND_NS = 1e9
IN_A_TECHNOLOGY = "{technology}"
"""In a row's name, what stands for how tables call the technology."""
LINE = "regression_"
"""What the metrics of a line begin with."""
SLOPE, INTERCEPT, R_SQUARED = f"{LINE}slope", f"{LINE}intercept", f"{LINE}r_squared"
LINE_UNITS = {SLOPE: "ns/method", INTERCEPT: "ns", R_SQUARED: "1"}

Row = Mapping[str, str]


class Table(Struct, frozen=True):
    """Files of ``published/``, and the rows of them that are asked for."""

    label: str
    rows: tuple[Row, ...]

    def values(self, column: str) -> list[str]:
        """What stands in a column, each once, in order."""
        return list(dict.fromkeys(row[column] for row in self.rows))


def published_rows(
    shape: PublishedShape, experiment: str, uses: Iterable[Use], known: Known, root: Path, report: Report
) -> tuple[PublishedRow | PublishedLine, ...]:
    """The printed values and lines of all configurations whose agents' files name a row for this experiment."""
    table = _read(shape, root, report)
    if table is None:
        return ()
    _check_agents(shape, table, known, report)
    if report.concerns("published"):
        return ()
    rows: list[PublishedRow | PublishedLine] = []
    named = False
    for use in dict.fromkeys([BASELINE, *uses]):
        agent = known.agents.get(use.agent)
        configuration = agent.configurations.get(use.configuration) if agent else None
        if agent is None or configuration is None or experiment not in configuration.published:
            continue
        label = _label(agent, use, configuration.published[experiment])
        if label is None:
            continue
        named = True
        printed = shape.agents.get(use.agent, UNINSTRUMENTED if use == BASELINE else agent.name)
        rows += _values(use, agent, printed, label, experiment, table, report)
    if not named:
        text = "is of no use: no configuration here says which row it reproduces"
        report.add("published", f'{text}, as published = {{ {experiment} = "…" }} in an agent\'s file would')
    return tuple(rows)


def _label(agent: Agent, use: Use, said: str) -> str | None:
    """The name of a configuration's row, in its technology; None where tables don't have that technology."""
    if IN_A_TECHNOLOGY not in said:
        return said
    technology = agent.technologies.get(agent.configurations[use.configuration].technology)
    name = technology.published_as if technology else ""
    return said.replace(IN_A_TECHNOLOGY, name) if name else None


def _read(shape: PublishedShape, root: Path, report: Report) -> Table | None:
    """The tables as one. Of a row that several of them print, as they do the baseline's, the first counts."""
    tables = [_read_table(name, shape, root, report) for name in shape.table]
    printed_in: dict[tuple[str, ...], Table] = {}
    kept: list[Row] = []
    for table in tables:
        if table is None:
            return None
        for row in table.rows:
            of_what = tuple(value for column, value in row.items() if column not in PRINTED)
            if printed_in.setdefault(of_what, table) is table:
                kept.append(row)
    return Table(" and ".join(table.label for table in tables if table), tuple(kept))


def _read_table(name: str, shape: PublishedShape, root: Path, report: Report) -> Table | None:
    path = root / "published" / name
    names = sorted(file.name for file in (root / "published").glob("*.csv"))
    if name not in names:
        hint = did_you_mean(name, names) or f". There is {one_of(names)}"
        report.add("published.table", f'"{name}" is no table in published/{hint}')
        return None
    label = f"published/{name}"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = tuple(csv.DictReader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        report.add("published.table", f"{label} cannot be read: {error}")
        return None
    missing = [name for name in COLUMNS if not rows or name not in rows[0]]
    if missing:
        report.add("published.table", f"{label} has no column {one_of(missing)}, or no rows")
        return None
    uneven = [place for place, row in enumerate(rows, start=1) if None in row or None in row.values()]
    if uneven:
        report.add("published.table", f"{label}, row {uneven[0]} has more or fewer fields than columns")
        return None
    table = Table(label, rows)
    for column, value in shape.where.items():
        key = join("published.where", column)
        if column not in rows[0]:
            hint = did_you_mean(column, rows[0]) or f". It has {one_of(rows[0])}"
            report.add(key, f'{label} has no column "{column}"{hint}')
        elif value not in table.values(column):
            report.add(key, f'"{value}" stands nowhere in that column of {label}, but {one_of(table.values(column))}')
    if report.concerns("published.where"):
        return None
    return Table(label, tuple(row for row in rows if all(row[name] == value for name, value in shape.where.items())))


def _check_agents(shape: PublishedShape, table: Table, known: Known, report: Report) -> None:
    for agent, printed in shape.agents.items():
        key = join("published.agents", agent)
        if agent not in known.agents and agent not in known.unreadable:
            report.add(key, unknown_agent(agent, known))
        elif printed not in table.values("agent"):
            report.add(key, f'{table.label} has no agent "{printed}". It has {one_of(table.values("agent"))}')


def _values(
    use: Use, agent: Agent, printed: str, label: str, experiment: str, table: Table, report: Report
) -> Iterator[PublishedRow | PublishedLine]:
    """One value or line per platform. What is wrong with the row's name is said with the agent's file."""
    name = use.configuration.partition(":")[0]
    key = f"agents/{use.agent}/{agent.language}/agent.toml, configurations.{name}.published.{experiment}"
    of_agent = [row for row in table.rows if row["agent"] == printed]
    if not of_agent:
        text = f'{table.label} has no agent "{printed}". It has {one_of(table.values("agent"))}'
        report.add(join("published.agents", use.agent), f"is missing: {text}")
        return
    mine = [row for row in of_agent if row["configuration"] == label]
    if not mine:
        names = list(dict.fromkeys(row["configuration"] for row in of_agent))
        text = f'"{label}" is no row of {printed} in {table.label}{did_you_mean(label, names)}   It has {one_of(names)}'
        report.add(key, text)
    if IN_A_TECHNOLOGY not in agent.configurations[use.configuration].published[experiment]:
        mine = _of_technology(agent, use, mine)
    for platform in dict.fromkeys(row["platform"] for row in mine):
        same = [row for row in mine if row["platform"] == platform]
        if any(row.get("metric", "").startswith(LINE) for row in same):
            yield from _line(use, same, f'{printed} "{label}" on {platform}', table, report)
            continue
        if len(same) > 1:
            differing = [name for name in same[0] if name != "value" and len({row[name] for row in same}) > 1]
            text = f'leaves {len(same)} values of {printed} "{label}" on {platform or "one platform"}'
            report.add("published.where", f"{text}, which differ in {one_of(differing)}: name what is meant")
            continue
        yield from _value(use, same[0], f'{printed} "{label}"', table, report)


def _of_technology(agent: Agent, use: Use, rows: list[Row]) -> list[Row]:
    """The rows of a configuration's technology; where none is named, also those of a table that tells none apart."""
    technology = agent.technologies.get(agent.configurations[use.configuration].technology)
    if technology is None:
        return rows
    same = [row for row in rows if technology.published_as and row.get("technology") == technology.published_as]
    if same or technology.name != agent.technology:
        return same
    return [row for row in rows if not row.get("technology")]


def _value(use: Use, row: Row, who: str, table: Table, report: Report) -> Iterator[PublishedRow]:
    unit = row["unit"]
    if unit not in TIME and unit not in RATES:
        text = f'leaves values of {who} in "{unit}", and only times and rates stand beside times'
        report.add("published.where", text)
        return
    try:
        printed = float(row["value"])
        value = SECOND_NS / printed if unit in RATES else printed * TIME[unit]
        has_sd = unit in TIME and row["spread_kind"] == STANDARD_DEVIATION
        sd = float(row["spread"]) * TIME[unit] if has_sd else None
    except (ValueError, ZeroDivisionError) as error:
        report.add("published.table", f"{table.label}, {who} on {row['platform']}: {error}")
        return
    yield PublishedRow(use, row["platform"], value, sd, f"{row['table']}, {row['agent']}: {row['configuration']}")


def _line(use: Use, rows: list[Row], who: str, table: Table, report: Report) -> Iterator[PublishedLine]:
    """The line that rows of one configuration and platform make; without R² where none is printed."""
    printed: dict[str, float] = {}
    for row in rows:
        metric = row["metric"]
        if LINE_UNITS.get(metric) != row["unit"] or metric in printed:
            units = one_of([f"{name} in {unit}" for name, unit in LINE_UNITS.items()])
            report.add("published.where", f'leaves {metric} in "{row["unit"]}" of {who}; a line has one {units} each')
            return
        try:
            printed[metric] = float(row["value"])
        except ValueError as error:
            report.add("published.table", f"{table.label}, {who}: {error}")
            return
    if SLOPE not in printed or INTERCEPT not in printed:
        report.add("published.where", f"leaves of {who} a line without its slope or its intercept")
        return
    first = rows[0]
    source = f"{first['table']}, {first['agent']}: {first['configuration']}"
    yield PublishedLine(use, first["platform"], printed[SLOPE], printed[INTERCEPT], printed.get(R_SQUARED), source)
