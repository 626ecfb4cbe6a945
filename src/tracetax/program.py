"""What is started and traced: a workload, and the runtime that it runs on, as their files describe them."""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from tracetax.model import Settings
from tracetax.parameters import Offers as Offers
from tracetax.service import Sent


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


NOTHING_MONITORED = Monitored("", "", "")
"""Of a program that has no such method."""


class Service(Struct, frozen=True):
    """What is known of a program that listens on a port of loopback, and that a load calls."""

    endpoints: dict[str, Sent]
    """What can be called, by name."""
    ready_path: str
    """Answered with a status from 200 to 299 as soon as it is ready."""
    ready_within_ns: int
    end: Literal["TERM", "INT"] = "TERM"
    """The signal by which it is ended."""
    stores: tuple[str, ...] = ()
    """What it keeps its data in, by the names of their folders."""
    port: int = 0
    """The port that it listens on; 0 where it listens on the one that it is told."""
    stores_of: dict[str, tuple[str, ...]] = {}
    """Of each endpoint the stores that it needs, where a program serves one endpoint alone; empty: it needs all."""
    warm_up_of: dict[str, int] = {}
    """Of each endpoint the calls before which it never counts as warm, where a program serves one alone."""


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


class GoPackage(Struct, frozen=True):
    """A program that Go builds from a workload's sources."""

    package: str
    """The folder of its package ``main``, as ``go build`` takes it."""
    program: str
    """The name of the file that is built."""


class Host(Struct, frozen=True):
    """A program that serves one endpoint of a workload: ``workloads/<kind>/<language>/hosts/<name>/host.toml``."""

    title: str
    start: tuple[str, ...]
    """The words of its command line, placeholders unfilled."""
    environment: dict[str, str]
    """Variables of every trial beside the workload's."""
    path: str
    """Where it takes the event."""
    body: str
    """What it is sent, with ``{event}`` where the endpoint's own body stands."""
    ready_within_ns: int
    """How long it may take until its first answer."""
    go: GoPackage | None = None
    """What Go builds for it; None where it needs nothing built."""
    least_release: int = 1
    """The oldest feature release of its runtime that will do."""
    sources: str = ""
    """The folder of the module that Go builds, beside the folders of the languages."""


PackageTool: TypeAlias = Literal["maven", "npm", "pip"]


class LockedPackages(Struct, frozen=True):
    """Packages that a workload needs, which a file beside its ``workload.toml`` pins by their checksums."""

    tool: PackageTool
    """What installs them."""
    lock: str
    """That file."""


class Workload(Struct, frozen=True):
    """A program under test: ``workloads/<kind>/<language>/workload.toml``."""

    key: str
    """Its folder in ``workloads/``, such as ``calltree/java``, by which experiments call it."""
    title: str
    runtime: str
    """The folder in ``runtimes/`` that describes what it runs on."""
    start: tuple[str, ...]
    """The words of its command line, placeholders unfilled."""
    monitored: Monitored = NOTHING_MONITORED
    least_warm_up_calls: int = 1
    """Before so many calls it never counts as warm."""
    offers: Offers = Offers(threads_max=1, wait=())
    main: str = ""
    """Its main class; empty where its language has none."""
    sources: str = ""
    """The folder of its sources, below its own; empty where they lie beside ``workload.toml``."""
    compile_release: int = 0
    """The release of Java that its sources are compiled for; 0 where nothing is compiled."""
    go: GoPackage | None = None
    """What Go builds from its sources; None where Go builds nothing."""
    packages: LockedPackages | None = None
    """None where it needs none, or Go fetches them."""
    environment: dict[str, str] = {}
    """Variables of every trial, placeholders unfilled; an agent's own go before."""
    process_tree: bool = False
    """Whether the processes that it starts belong to it, so that their CPU and memory count as its own."""
    threads: ThreadNames = ThreadNames()
    start_up: StartUp | None = None
    service: Service | None = None
    """What is known of a service, which a load calls; None where the program makes its calls itself."""
    directory: str = ""
    """Where it is started; empty where that is nothing to it."""
    own: bool = False
    """Whether it is the user's own: it keeps the user's environment, and ends as it likes."""
    started_with: dict[str, tuple[str, ...]] = {}
    """By agent, what it is started by in the place of ``start``, where agents are built into other programs."""
    before: tuple[str, ...] = ()
    """What the user wants run before each start, with the placeholder of the port as in ``start``."""
    after: tuple[str, ...] = ()
    """What the user wants run after each end."""
    hosts: dict[str, Host] = {}
    """What serves its endpoints, one at a time; empty where it is started by itself."""
    host: str = ""
    """Which of them a trial starts; empty before that is known."""
    endpoint: str = ""
    """Which endpoint that serves."""

    @property
    def is_built(self) -> bool:
        """Whether it is started from a folder that is made of its sources, and not from the sources themselves."""
        return bool(self.compile_release or self.go or self.packages)


class Question(Struct, frozen=True):
    """What a program is asked about itself."""

    words: tuple[str, ...]
    """The arguments it is started with."""
    pattern: str
    """Regular expression for its answer, whose one group is what was asked."""
    key: str = ""
    """The line of the file of facts that says the same without a question; empty where no line does."""


class Find(Struct, frozen=True):
    """How a runtime is found on a machine, and what is known of one that was found."""

    program: str
    """Below a home of it."""
    on_path: str
    """What the program is called on PATH."""
    version: Question
    release: str
    """Regular expression for a version; its one group is the feature release."""
    least: int = 1
    """The oldest feature release that will do."""
    install: str = ""
    """The command by which one is usually installed."""
    home: str = ""
    """The environment variable that names a home of it; empty where there is none."""
    real: Question | None = None
    """Where the program lies that the one on PATH starts; None where following links tells."""
    vendor: Question | None = None
    facts: str = ""
    """A file below a home with lines ``KEY="value"``, which is read before the program is asked."""
    compiler: str = ""
    """Below a home: the compiler that comes with most of them."""
    called: str = ""
    """What one that has its compiler is called."""
    archives: tuple[str, ...] = ()
    """Below a home, patterns for files without any of which it takes longer to start."""

    def release_of(self, version: str) -> int:
        """The feature release of a version; 0 where the version does not say one."""
        match = re.match(self.release, version)
        return int(match[1]) if match else 0


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
    least: int = 0
    """The least release, or size in bytes, that can be asked for."""
    most: int = 0
    """The last release that can be asked for; 0 where there is no bound."""
    default: int | str = 0
    """What holds where nobody says it; 0 where nothing is set then."""
    required: bool = False
    """Whether an experiment's file must say it. ``default`` then holds for what is measured without a file."""
    title: str = ""
    """What the titles of parts call it; empty where that is its name."""


PROCESS = "process"
"""What a process of a runtime is called that has no word of its own."""


class Runtime(Struct, frozen=True):
    """What runs programs of a language: ``runtimes/<key>/runtime.toml``."""

    key: str
    name: str
    settings: dict[str, Setting]
    languages: tuple[str, ...] = ()
    """Languages of the programs that it runs."""
    written: str = "{release}"
    """How a feature release is written for a reader: 12 as 3.12 by ``3.{release}``."""
    find: Find | None = None
    """How it is found on a machine; None where its programs run without anything."""
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
    prints_threads_on: Literal["", "QUIT", "ABRT"] = ""
    """The signal on which a process of it prints what its threads are doing; empty where none does that."""
    process: str = PROCESS
    """What a process of it is called in sentences, such as ``JVM``."""
    attach: dict[str, str] = {}
    """Variables by which an agent gets into a program whose command is not touched, placeholders unfilled."""
    recognized_by: str = ""
    """What stands in the file of every program of it, where nothing runs them."""

    @property
    def grows(self) -> bool:
        """Whether it has a memory that can begin small and grow, which a trial that measures memory needs."""
        return any(setting.begin_bytes for setting in self.settings.values())

    @property
    def noun(self) -> str:
        """What one is called that a workload needs: a JDK, a Python."""
        return (self.find.called if self.find else "") or self.name

    @property
    def heading(self) -> str:
        """What stands before its settings: the word for a process of it, or else its name."""
        return self.name if self.process == PROCESS else self.process

    def number(self, release: int) -> str:
        """A release as people write it: 21, or 3.11."""
        return self.written.replace("{release}", str(release))

    def called(self, release: int) -> str:
        """A release by the runtime's name: Java 21, Python 3.11."""
        return f"{self.name} {self.number(release)}"

    def release_of(self, settings: Settings) -> int:
        """The release that a part's settings ask for; 0: the one that is found first."""
        names = (name for name, setting in self.settings.items() if setting.kind == "release")
        release = next((settings[name] for name in names if name in settings), 0)
        assert isinstance(release, int)
        return release


class RuntimeVersion(Struct, frozen=True):
    """What trials ran on: a version of a runtime, as it is installed on a machine. Where nothing runs the programs of
    a language, it is what has built them."""

    name: str
    """What it is called: ``JDK``, ``Java runtime`` (a Java without a compiler), ``Python``."""
    version: str
    vendor: str = ""
    """Who made it; empty where it does not say."""
    home: str = ""
    """The folder that it lies in."""
    archive: bool | None = None
    """Whether it has an archive of what it loads first, without which it takes longer to start; None where its kind
    knows no such archive."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}" + (f" ({self.vendor})" if self.vendor else "")
