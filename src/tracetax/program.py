"""What is started and traced: a workload, and the runtime that it runs on, as their files describe them."""

from typing import Literal

from msgspec import Struct


class Monitored(Struct, frozen=True):
    """The method that agents are asked to monitor, by the names that its language has for it."""

    class_name: str
    """With its package."""
    simple_class: str
    method: str

    @property
    def placeholders(self) -> dict[str, str]:
        """What an agent's file may ask about the monitored method."""
        return {
            "monitored.class": self.class_name,
            "monitored.simple_class": self.simple_class,
            "monitored.method": self.method,
        }


class TextPart(Struct, frozen=True):
    """A part of a generated file."""

    text: str
    each: Literal["", "monitored", "unmonitored"] = ""
    """Of which methods it is repeated for every number, in the place of ``{number}``; empty where it stands once."""


class GeneratedFile(Struct, frozen=True):
    """A source that is generated."""

    path: str
    """Below the folder of the sources."""
    parts: tuple[TextPart, ...]


class StartUp(Struct, frozen=True):
    """Generated sources whose methods the program calls once each when it starts."""

    entry: str
    """What calls the methods, by the name that the driver is given."""
    monitored: Monitored
    """The methods that agents can be asked to monitor."""
    files: tuple[GeneratedFile, ...]


class Offers(Struct, frozen=True):
    """What of a kind's parameters a program can do."""

    threads_max: int
    wait: tuple[str, ...]


class ThreadNames(Struct, frozen=True):
    """What threads are there for, by their names; a name that ends in ``*`` is the beginning of one."""

    caller: tuple[str, ...] = ()
    """They make the calls."""
    jit: tuple[str, ...] = ()
    gc: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """Further threads of the runtime, and of the program."""

    def __add__(self, other: "ThreadNames") -> "ThreadNames":
        return ThreadNames(self.caller + other.caller, self.jit + other.jit, self.gc + other.gc, self.own + other.own)


class Workload(Struct, frozen=True):
    """A program under test: ``workloads/<kind>/<language>/workload.toml``."""

    key: str
    """Its folder in ``workloads/``, such as ``calltree/java``, by which experiments call it."""
    title: str
    runtime: str
    """The folder in ``runtimes/`` that describes what it runs on."""
    start: tuple[str, ...]
    """The words of its command line, placeholders unfilled."""
    monitored: Monitored
    least_warm_up_calls: int
    """Before so many calls it never counts as warm."""
    offers: Offers
    main: str = ""
    """Its main class; empty where its language has none."""
    compile_release: int = 0
    """The release of Java that its sources are compiled for; 0 where nothing is compiled."""
    threads: ThreadNames = ThreadNames()
    start_up: StartUp | None = None


class Wheel(Struct, frozen=True):
    """Where a runtime comes from that the machine lacks: a wheel, pinned by ``<runtime>-<release>.lock``."""

    package: str
    home: str
    """Where the runtime lies in the wheel."""
    platforms: str
    """In words: those that the locks pin wheels for."""


class Further(Struct, frozen=True):
    """Flags that a choice needs beside its own on some releases."""

    choice: str
    since: int
    until: int
    """The last release."""
    flags: tuple[str, ...]


class Setting(Struct, frozen=True):
    """What an experiment may set about a runtime, the same for the baseline and every agent."""

    name: str
    kind: Literal["release", "size", "choice"]
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Placeholders unfilled."""
    further: tuple[Further, ...] = ()
    begin_bytes: int = 0
    """Of a size: what a trial that measures memory begins with; 0 where it does not grow."""


class Runtime(Struct, frozen=True):
    """What runs programs of a language: ``runtimes/<key>/runtime.toml``."""

    key: str
    name: str
    settings: dict[str, Setting]
    folders: tuple[str, ...] = ()
    """Where installers put homes of it, each in a folder of its own."""
    not_inherited: tuple[str, ...] = ()
    """Environment variables that would change every process of it."""
    refused_flags: tuple[str, ...] = ()
    """Regular expressions for flags that an agent's file must not contain."""
    wheel: Wheel | None = None
    shared_flags: tuple[str, ...] = ()
    """What every trial is started with beside its settings, placeholders unfilled."""
    timed_flags: tuple[str, ...] = ()
    """The same, but not in a trial that measures memory; they stand before."""
    threads: ThreadNames = ThreadNames()
