"""Classes that a program calls once when it starts: generated, so that any number of methods can be monitored."""

from pathlib import Path

from tracetax.artifacts.cache import BUILT, Say, built, silent, staging
from tracetax.artifacts.compiling import compile_folder, javac_version

PACKAGE = "tracetax.generated"
MONITORED, UNMONITORED, ENTRY = "Monitored", "Unmonitored", "StartUp"
WAY = "1"
"""Changes when the same numbers would make other classes."""


def build_start_up(methods: int, monitored: int, cache: Path, say: Say = silent) -> Path:
    """The folder of classes with so many methods, those that are monitored in a class of their own.

    Agents that weave whole classes can so be asked for a part of the methods, as well as those that weave methods.
    Raises UserError where it cannot be compiled.
    """
    label = f"start-up-{methods}-{monitored}"

    def build(folder: Path) -> None:
        say(f"compiling {methods:,} methods for the start, {monitored:,} of them monitored")
        with staging(cache) as sources:
            write_sources(methods, monitored, sources)
            compile_folder(
                sources,
                folder,
                class_path="",
                release=8,
                logs=cache / "logs",
                label=label,
                what="The classes for the start could not be compiled",
                advice="They are made by src/tracetax/artifacts/start_up.py.",
            )

    version = javac_version(cache).replace(" ", "-")
    return built(cache / BUILT / f"{label}-{WAY}-{version}", cache, build, say)


def write_sources(methods: int, monitored: int, folder: Path) -> None:
    """Write the generated classes below ``folder``, each where its package says."""
    place = folder / PACKAGE.replace(".", "/")
    place.mkdir(parents=True, exist_ok=True)
    for name, text in generated(methods, monitored).items():
        (place / f"{name}.java").write_text(text)


def generated(methods: int, monitored: int) -> dict[str, str]:
    """Sources by class: one with the monitored methods, one with the others, one that calls each of them once."""
    calls = [f"    sum += monitored.method{number}(sum);" for number in range(monitored)]
    calls += [f"    sum += unmonitored.method{number}(sum);" for number in range(methods - monitored)]
    entry = (
        f"public final class {ENTRY} implements Runnable {{",
        "  public static volatile long kept;",
        "",
        "  public void run() {",
        f"    {MONITORED} monitored = new {MONITORED}();",
        f"    {UNMONITORED} unmonitored = new {UNMONITORED}();",
        "    long sum = 0;",
        *calls,
        "    kept = sum;",
        "  }",
        "}",
    )
    return {
        MONITORED: _class(MONITORED, monitored),
        UNMONITORED: _class(UNMONITORED, methods - monitored),
        ENTRY: _unit(entry),
    }


def _class(name: str, methods: int) -> str:
    bodies = (
        line
        for number in range(methods)
        for line in (f"  public long method{number}(long value) {{", f"    return value * 31 + {number};", "  }", "")
    )
    return _unit((f"public class {name} {{", *bodies, "}"))


def _unit(lines: tuple[str, ...]) -> str:
    return "\n".join((f"package {PACKAGE};", "", *lines, ""))
