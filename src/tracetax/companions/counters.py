"""A backend's own counters, as it serves them: JSON or the text of Prometheus."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_SAMPLE = re.compile(r"([a-zA-Z_:][\w:.]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?")
_LABEL = re.compile(r'\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')


def json_counter(text: str, key: str) -> float:
    """The number at a key such as ``spans.received`` in a JSON object; 0 where there is none.

    A dot leads into an inner object, or belongs to a name: whole names go before.
    """
    value = _at(json.loads(text), key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _at(within: Any, key: str) -> Any:
    if not isinstance(within, Mapping):
        return None
    value = cast(Mapping[str, Any], within)
    if key in value:
        return value[key]
    for place, character in enumerate(key):
        if character == "." and key[:place] in value:
            found = _at(value[key[:place]], key[place + 1 :])
            if found is not None:
                return found
    return None


def prometheus_counter(text: str, metric: str) -> float:
    """The sum of a metric's samples that have the labels which ``metric`` names, as in ``spans{transport="grpc"}``."""
    name, _, wanted = metric.partition("{")
    labels = dict(_LABEL.findall(wanted.removesuffix("}")))
    total = 0.0
    for line in text.splitlines():
        found = _SAMPLE.fullmatch(line.strip())
        if found and found[1] == name and labels.items() <= dict(_LABEL.findall(found[2] or "")).items():
            total += float(found[3])
    return total
