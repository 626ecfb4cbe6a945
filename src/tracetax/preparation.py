"""The folders that agents and backends need made before a trial, and the steps that make them."""

from msgspec import Struct


class Compilation(Struct, frozen=True):
    """``compile`` of a prepared folder: what javac gets, placeholders unfilled."""

    sources: str
    class_path: tuple[str, ...] = ()
    release: int = 8
    jar: str = ""
    """The jar in the folder that the classes go into; empty where they lie in the folder itself."""


class Program(Struct, frozen=True):
    """``run`` of a prepared folder: a Java program, placeholders unfilled."""

    main: str
    class_path: tuple[str, ...]
    jvm: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


class GoBuild(Struct, frozen=True):
    """``go`` of a prepared folder: a Go module whose program is built, placeholders unfilled."""

    sources: str
    program: str
    replace: dict[str, str] = {}
    """Modules that are taken from a folder, by their path, instead of being fetched."""
    package: str = "."
    """Its package ``main``, as ``go build`` takes it."""


class NativeBuild(Struct, frozen=True):
    """``cc`` of a prepared folder: a shared library in C or C++, placeholders unfilled."""

    sources: str
    library: str
    include: tuple[str, ...] = ()
    """Folders of headers beside the sources' own."""
    links: tuple[str, ...] = ()
    """Libraries of the system by their names without ``lib``."""
    packages: tuple[str, ...] = ()
    """What Debian calls the packages that have them, with their headers."""


class Packages(Struct, frozen=True):
    """``pip`` or ``npm`` of a prepared folder: what a lock pins by checksums is installed, placeholders unfilled."""

    lock: str


class PrepareStep(Struct, frozen=True):
    """A folder that is made before any trial: unpacked, copied, compiled, built, installed, written by a program."""

    name: str
    unzip: tuple[str, ...] = ()
    strip: int = 0
    """Leading parts of the paths in the archives that are dropped."""
    copy: dict[str, str] = {}
    """File or folder by the place in the folder that it goes to."""
    compile: Compilation | None = None
    run: Program | None = None
    go: GoBuild | None = None
    cc: NativeBuild | None = None
    pip: Packages | None = None
    npm: Packages | None = None

    @property
    def made_once(self) -> tuple[str, ...]:
        """The keys of what is done in it that no trial can repeat."""
        return tuple(key for key in ("unzip", "copy", "go", "cc", "pip", "npm") if getattr(self, key))
