"""What must hold in ``[[prepare]]``: names that are there, work to do, and no circle."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from tracetax.catalog.agent_shape import PrepareShape
from tracetax.catalog.placeholders import FILES, PREPARED, known_in_steps, names_in
from tracetax.catalog.problems import Report, join

CheckNames = Callable[[str, str, tuple[str, ...], Report], None]
WORK = ("unzip", "copy", "compile", "go", "run")


def check_steps(
    steps: Sequence[PrepareShape],
    artifacts: Mapping[str, object],
    check_names: CheckNames,
    report: Report,
    *,
    files: str = FILES,
) -> None:
    """Report what is wrong with the steps; ``check_names`` is told each text with the placeholders it may contain."""
    names = [step.name for step in steps]
    for index, step in enumerate(steps):
        path = f"prepare[{index}]"
        if report.concerns(join(path, "name")):
            continue
        if step.name in names[:index]:
            report.add(join(path, "name"), f'there are two steps by the name of "{step.name}"')
        if not any(getattr(step, key) for key in WORK) and not report.concerns(path):
            report.add(path, f"does nothing: give {', '.join(WORK[:-1])} or {WORK[-1]}")
        if step.strip is not None and not step.unzip:
            report.add(join(path, "strip"), "is given, but nothing is unpacked")
        others = [name for name in names if name != step.name]
        for key, text in _texts(path, step):
            check_names(key, text, known_in_steps(artifacts, others), report)
            if not text.startswith("{") and not key.startswith((f"{path}.run.jvm", f"{path}.run.arguments")):
                report.add(key, f'"{text}" must begin with a placeholder, as in "{{{files}}}/{text}"')
        circle = _circle(step.name, {other.name: other for other in steps})
        if circle and index == min(map(names.index, circle)):
            report.add(path, f"goes in a circle: {' → '.join(circle)}")


def _texts(path: str, step: PrepareShape) -> Iterator[tuple[str, str]]:
    """Every text in which placeholders may stand, with its key."""
    yield from _numbered(join(path, "unzip"), step.unzip)
    yield from ((join(join(path, "copy"), target), source) for target, source in step.copy.items())
    if step.compile:
        yield f"{path}.compile.sources", step.compile.sources
        yield from _numbered(f"{path}.compile.class_path", step.compile.class_path)
    if step.go:
        yield f"{path}.go.sources", step.go.sources
    if step.run:
        for key in ("class_path", "jvm", "arguments"):
            yield from _numbered(f"{path}.run.{key}", getattr(step.run, key))


def _numbered(key: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((f"{key}[{index}]", text) for index, text in enumerate(texts))


def _circle(name: str, steps: Mapping[str, PrepareShape]) -> list[str]:
    """The way from a step back to itself; empty where there is none."""
    ways = [[name]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for _, text in _texts("", steps[way[-1]]):
            for other in (found.removeprefix(PREPARED) for found in names_in(text) if found.startswith(PREPARED)):
                if other == name:
                    return [*way, name]
                if other in steps and other not in seen:
                    seen.add(other)
                    ways.append([*way, other])
    return []
