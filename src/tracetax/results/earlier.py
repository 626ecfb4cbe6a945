"""Records of trials as format 2 of the run folder had them; nothing else knows that format."""

from typing import Any

OF_USE = ("agent", "configuration", "build", "backend")
OF_CELL = ("part", "heap_bytes", "role")


def upgraded(record: dict[str, Any]) -> dict[str, Any]:
    """A trial's record, decoded from JSON, in the present shape.

    In format 2 what a trial measures stood in fields of the record itself; now they are its ``cell``. A record that
    has a cell is returned as it is.
    """
    if "cell" in record:
        return record
    use = {name: record[name] for name in OF_USE if name in record}
    cell = {name: record[name] for name in OF_CELL if name in record}
    others = {name: value for name, value in record.items() if name not in (*OF_USE, *OF_CELL)}
    return {**others, "cell": {**cell, "use": use}}
