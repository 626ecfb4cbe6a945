"""What is sent to a service of the user's: the lines of a file, or the one address that was typed."""

import json
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult

from msgspec import Meta, Struct

from tracetax.catalog.agent_shape import UrlPath
from tracetax.catalog.reading import Report, Text, read


class RequestShape(Struct, frozen=True, kw_only=True):
    """A line of a file of requests."""

    path: UrlPath
    method: Annotated[str, Meta(pattern="[A-Z]{1,20}", extra={"means": 'a method, as in "POST"'})] = "GET"
    headers: dict[str, str] = {}
    body: str = ""
    status: Annotated[int, Meta(ge=100, le=999)] = 200
    weight: Annotated[int, Meta(ge=1, le=1_000)] = 1
    name: Text | None = None


def requests_of(file: Path | None, url: SplitResult | None, report: Report) -> list[RequestShape]:
    """What is sent: the lines of the file, or else the address that was typed."""
    if file is None:
        if url is None:
            return []
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        return [read({"path": path}, RequestShape, report)]
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        report.add("--requests", f"{file} cannot be read: {error}")
        return []
    sent: list[RequestShape] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        own = Report(f"{file}:{number}")
        try:
            sent.append(read(json.loads(line), RequestShape, own))
        except json.JSONDecodeError as error:
            own.add("", f"is no JSON: {error.msg} at column {error.colno}")
        for problem in own.problems:
            report.add(f"--requests {file}, line {number}", f"{problem.key}: {problem.text}".strip(": "))
    if not sent and not report.problems:
        report.add("--requests", f"{file} has no request: one on each line, as in {{'path': '/orders'}}")
    return sent


def names_of(sent: list[RequestShape]) -> list[str]:
    """A name for each request, made of its own or of its path, no two alike."""
    names: list[str] = []
    for one in sent:
        plain = re.sub(r"[^\w.]+", "-", one.name or one.path).strip("-").lower()[:40] or "root"
        if one.method != "GET" and one.name is None:
            plain = f"{one.method.lower()}-{plain}"
        number = 2
        name = plain
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names
