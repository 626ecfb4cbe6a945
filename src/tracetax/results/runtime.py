"""What the readers of a run are told of the runtime that its workload ran on."""

from typing import Literal, TypeAlias

from msgspec import Struct

from tracetax.program import Runtime

ThreadGroup: TypeAlias = Literal["jit", "gc", "own"]


class RuntimeFinding(Struct, frozen=True):
    """The runtime of the workload: what it is called, and what of it was set and could be told."""

    key: str
    """Its folder in ``runtimes/``."""
    name: str
    """What it is called, such as ``Java``."""
    process: str
    """What a process of it is called, such as ``JVM``."""
    settings: dict[str, Literal["release", "size", "choice"]]
    """What can be set of it, and of which kind each setting is."""
    threads: tuple[ThreadGroup, ...]
    """Groups of threads that are told from the agent's: compilers, collectors, and further ones of the runtime."""


def told_of(runtime: Runtime) -> RuntimeFinding:
    """What the findings say of a runtime, as its file was when the run began."""
    groups: dict[ThreadGroup, tuple[str, ...]] = {
        "jit": runtime.threads.jit,
        "gc": runtime.threads.gc,
        "own": runtime.threads.own,
    }
    return RuntimeFinding(
        key=runtime.key,
        name=runtime.name,
        process=runtime.process,
        settings={name: setting.kind for name, setting in runtime.settings.items()},
        threads=tuple(group for group, names in groups.items() if names),
    )
