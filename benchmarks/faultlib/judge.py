"""The judgement on findings after a fault, made from the trials again and not by the code that made the findings."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

FAR = 20.0
"""Times by which a row may differ from the unharmed run's: two blocks of 2,000 calls on a busy machine differ much."""
RIGHTLY_ABSENT = ("service_time_p99", "response_time_p99")
"""Not shown where fewer than ten steady calls lie beyond it: in trials of 2,000 calls, after a long first part."""
Json = dict[str, Any]


def _json(path: Path) -> Json:
    return msgspec.json.decode(path.read_bytes())


def wrong_rows(run: Path, unharmed: Json) -> list[str]:
    """Rows whose records or times are not those of good trials, and that carry neither warning nor error."""
    records = [_json(path) | {"folder": path.parent} for path in sorted((run / "trials").glob("[0-9]*/record.json"))]
    usual = {_name(row): _estimate(row, "service_time") for row in unharmed["configurations"]}
    wrong: list[str] = []
    for row in _json(run / "findings.json")["configurations"]:
        if any(verdict["severity"] in ("warning", "error") for verdict in row["verdicts"]):
            continue
        own = [record for record in records if _of_row(record, row)]
        problems = [problem for record in own for problem in _problems(record)]
        time, known = _estimate(row, "service_time"), usual[_name(row)]
        if time is None or known is None:
            problems.append("no time")
        elif not known / FAR < time < known * FAR:
            problems.append(f"{time:.0f} ns, unharmed {known:.0f}")
        if row["records"]["received"] != row["records"]["expected"]:
            problems.append(f"{row['records']['received']} of {row['records']['expected']} records")
        if time is not None and not any(abs(time - one) <= 1e-6 * one for one in _means(own)):
            problems.append(f"{time:.3f} ns is not the mean of its trials")
        wrong += [f"{_name(row)}: {problem}" for problem in problems]
    return wrong


def complete(run: Path, unharmed: Json) -> list[str]:
    """What is missing: rows, or measures of rows that carry no error, compared with the unharmed run."""
    rows = {_name(row): row for row in _json(run / "findings.json")["configurations"]}
    missing: list[str] = []
    for row in unharmed["configurations"]:
        found = rows.get(_name(row))
        if found is None:
            missing.append(f"row {_name(row)}")
        elif not any(verdict["severity"] == "error" for verdict in found["verdicts"]):
            missing += [f"{_name(row)}: {one}" for one in sorted(_measures(row) - _measures(found))]
    return missing


def _problems(record: Json) -> list[str]:
    """What a trial without a verdict may not have."""
    if record["status"] != "ok":
        return [f"trial {record['number']} failed"]
    calls, depth = record["parameters"]["calls"], record["parameters"]["depth"]
    ledger, promised = record["ledger"], record["ledger"]["expected"] > 0
    problems: list[str] = []
    counted = pl.read_parquet(record["folder"] / "distributions.parquet").filter(pl.col("kind") == "service")
    if counted["count"].sum() != calls:
        problems.append(f"{counted['count'].sum()} calls counted")
    if promised and (ledger["received"], ledger["complete_trees"]) != (calls * depth, calls):
        problems.append(f"{ledger['received']} records, {ledger['complete_trees']} trees")
    if ledger["malformed"] or ledger["duplicates"]:
        problems.append(f"{ledger['malformed']} malformed, {ledger['duplicates']} twice")
    moments = record["moments"]
    order = [moments[name] for name in ("spawned", "main", "ready", "warm", "first_call", "last_call", "exited")]
    if order != sorted(order) or not moments["last_call"] <= moments["drained"] <= moments["exited"]:
        problems.append("its moments are not in order")
    return [f"trial {record['number']}: {problem}" for problem in problems]


def _means(records: list[Json]) -> list[float]:
    """The mean service time over whole blocks, from the counts of the trials; both readings of a baseline row."""
    blocks: dict[int, dict[str, float]] = {}
    for record in records:
        if record["status"] == "ok" and record["cell"]["role"] != "memory":
            first = record["steady"]["first_bin"]
            steady = pl.read_parquet(record["folder"] / "distributions.parquet").filter(
                (pl.col("kind") == "service") & (pl.col("bin") >= first)
            )
            mean = np.average(steady["duration"].to_numpy(), weights=steady["count"].to_numpy())
            blocks.setdefault(record["block"], {})[record["cell"]["role"]] = float(mean)
    means = [sum(block.values()) / len(block) for _, block in sorted(blocks.items())]
    # a block that was interrupted counts for nothing: any choice of whole blocks that leaves some out is allowed
    chosen = [[mean for place, mean in enumerate(means) if which >> place & 1] for which in range(1, 1 << len(means))]
    return [sum(some) / len(some) for some in chosen]


def _of_row(record: Json, row: Json) -> bool:
    cell, use = record["cell"], record["cell"]["use"]
    measured = (cell["part"], use["agent"], use["configuration"], cell["heap_bytes"])
    return measured == (row["part"], row["agent"], row["configuration"], row["heap_bytes"])


def _name(row: Json) -> str:
    return f"{row['part']}/{row['agent']}/{row['configuration']}"


def _estimate(row: Json, name: str) -> float | None:
    return next((one["estimate"] for one in row["measures"] if one["name"] == name), None)


def _measures(row: Json) -> set[str]:
    return {
        f"{one['name']} in {one['unit']} per {one['per']}"
        for one in row["measures"]
        if one["name"] not in RIGHTLY_ABSENT
    }
