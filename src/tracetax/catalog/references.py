"""What configurations refer to: only that is fetched and made, whatever else stands in their agent's file."""

from collections.abc import Iterable

from msgspec import Struct

from tracetax.catalog.placeholders import ARTIFACT, PREPARED, WORKLOAD_SOURCES, names_in, texts_of
from tracetax.model import WORKLOAD_CLASSES, Agent, Configuration
from tracetax.preparation import PrepareStep


class References(Struct, frozen=True):
    """Artifacts, and folders to be made, each after those that it needs itself."""

    artifacts: tuple[str, ...]
    steps: tuple[PrepareStep, ...]


def references(agent: Agent, configurations: Iterable[Configuration]) -> References:
    """What these configurations of an agent need: named by themselves, or by a step that they need."""
    every = ((*one.jvm, *one.environment.values(), *one.class_path) for one in configurations)
    return referred_to((text for texts in every for text in texts), agent.prepare)


def referred_to(texts: Iterable[str], among: Iterable[PrepareStep]) -> References:
    """What texts need: named in them, or by one of the steps that they need."""
    steps = {step.name: step for step in among}
    artifacts: dict[str, None] = {}
    needed: dict[str, PrepareStep] = {}

    def follow(texts: Iterable[str]) -> None:
        for name in (name for text in texts for name in names_in(text)):
            if name.startswith(ARTIFACT):
                artifacts[name.removeprefix(ARTIFACT)] = None
            elif name.startswith(PREPARED) and (step := steps[name.removeprefix(PREPARED)]).name not in needed:
                follow(texts_of(step))
                needed[step.name] = step

    follow(texts)
    return References(tuple(artifacts), tuple(needed.values()))


def made_of_program(steps: Iterable[PrepareStep]) -> tuple[PrepareStep, ...]:
    """Those of ``steps`` that are made of the workload's classes or sources, or of a folder that is.

    The steps come after those that they need, as :func:`references` gives them.
    """
    found: list[PrepareStep] = []
    program = {WORKLOAD_CLASSES, WORKLOAD_SOURCES}
    for step in steps:
        if any(name in program for text in texts_of(step) for name in names_in(text)):
            found.append(step)
            program.add(f"{PREPARED}{step.name}")
    return tuple(found)
