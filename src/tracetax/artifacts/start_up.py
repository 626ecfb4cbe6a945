"""Classes that a program calls once when it starts: generated, so that any number of methods can be monitored."""

from pathlib import Path

from tracetax.artifacts.cache import BUILT, Say, built, silent, staging
from tracetax.artifacts.compiling import compile_folder, javac_version
from tracetax.program import StartUp

WAY = "1"
"""Changes when the same numbers would make other classes."""


def build_start_up(classes: StartUp, methods: int, monitored: int, cache: Path, say: Say = silent) -> Path:
    """The folder of ``classes`` with so many methods, those that are monitored in a class of their own.

    Agents that weave whole classes can so be asked for a part of the methods, as well as those that weave methods.
    Raises UserError where it cannot be compiled.
    """
    label = f"start-up-{methods}-{monitored}"

    def build(folder: Path) -> None:
        say(f"compiling {methods:,} methods for the start, {monitored:,} of them monitored")
        with staging(cache) as sources:
            write_sources(classes, methods, monitored, sources)
            compile_folder(
                sources,
                folder,
                class_path="",
                release=8,
                log=cache / "logs" / label,
                what="The classes for the start could not be compiled",
                advice="They are made by src/tracetax/artifacts/start_up.py.",
            )

    version = javac_version(cache).replace(" ", "-")
    return built(cache / BUILT / f"{label}-{WAY}-{version}", cache, build, say)


def write_sources(classes: StartUp, methods: int, monitored: int, folder: Path) -> None:
    """Write the generated classes below ``folder``, each where its package says."""
    for name, text in generated(classes, methods, monitored).items():
        file = folder / f"{name.replace('.', '/')}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def generated(classes: StartUp, methods: int, monitored: int) -> dict[str, str]:
    """Sources by class: one with the monitored methods, one with the others, one that calls each of them once."""
    own, others = classes.monitored.class_name, classes.others
    calls = [f"    sum += monitored.method{number}(sum);" for number in range(monitored)]
    calls += [f"    sum += unmonitored.method{number}(sum);" for number in range(methods - monitored)]
    entry = (
        f"public final class {_simple(classes.entry)} implements Runnable {{",
        "  public static volatile long kept;",
        "",
        "  public void run() {",
        f"    {_simple(own)} monitored = new {_simple(own)}();",
        f"    {_simple(others)} unmonitored = new {_simple(others)}();",
        "    long sum = 0;",
        *calls,
        "    kept = sum;",
        "  }",
        "}",
    )
    return {
        own: _class(own, monitored),
        others: _class(others, methods - monitored),
        classes.entry: _unit(classes.entry, entry),
    }


def _class(name: str, methods: int) -> str:
    bodies = (
        line
        for number in range(methods)
        for line in (f"  public long method{number}(long value) {{", f"    return value * 31 + {number};", "  }", "")
    )
    return _unit(name, (f"public class {_simple(name)} {{", *bodies, "}"))


def _unit(name: str, lines: tuple[str, ...]) -> str:
    package = name.rpartition(".")[0]
    return "\n".join((f"package {package};", "", *lines, ""))


def _simple(name: str) -> str:
    return name.rpartition(".")[2]
