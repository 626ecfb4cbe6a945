"""Sources that a program calls when it starts: generated, so that any number of methods can be monitored."""

import hashlib
from pathlib import Path

import msgspec

from tracetax.artifacts.cache import BUILT, Say, built, silent, staging
from tracetax.artifacts.compiling import compile_folder, javac_version
from tracetax.program import StartUp, TextPart

NUMBER = "{number}"
"""What stands for the number of a method in a part that is repeated."""


def build_start_up(start_up: StartUp, methods: int, monitored: int, cache: Path, say: Say = silent) -> Path:
    """The folder of generated classes with so many methods, those that are monitored in a class of their own.

    Agents that weave whole classes can so be asked for a part of the methods, as well as those that weave methods.
    Raises UserError where it cannot be compiled.
    """
    label = f"start-up-{methods}-{monitored}"

    def build(folder: Path) -> None:
        say(f"compiling {methods:,} methods for the start, {monitored:,} of them monitored")
        with staging(cache) as sources:
            write_sources(start_up, methods, monitored, sources)
            compile_folder(
                sources,
                folder,
                class_path="",
                release=8,
                log=cache / "logs" / label,
                what="The classes for the start could not be compiled",
                advice="They are made of [start_up] in the workload's file.",
            )

    key = hashlib.sha256(msgspec.json.encode(start_up, order="deterministic")).hexdigest()[:16]
    version = javac_version(cache).replace(" ", "-")
    return built(cache / BUILT / f"{label}-{key}-{version}", cache, build, say)


def write_sources(start_up: StartUp, methods: int, monitored: int, folder: Path) -> None:
    """Write the generated sources below ``folder``."""
    for path, text in generated(start_up, methods, monitored).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def generated(start_up: StartUp, methods: int, monitored: int) -> dict[str, str]:
    """The text of each source by its path, for so many methods, of which so many are monitored."""
    count = {"monitored": monitored, "unmonitored": methods - monitored}

    def text_of(part: TextPart) -> str:
        if not part.each:
            return part.text
        return "".join(part.text.replace(NUMBER, str(number)) for number in range(count[part.each]))

    return {file.path: "".join(map(text_of, file.parts)) for file in start_up.files}
