"""Where Tracetax lies: in a clone of the project, or installed from a wheel with its data inside the package."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
IN_WHEEL = PACKAGE / "data"
"""What the wheel puts the clone's folders of data into; a clone has no such folder."""
INSTALLED = IN_WHEEL.is_dir()
"""Whether this Tracetax was installed from a wheel."""
PROGRAM = "tracetax" if INSTALLED else "./tracetax"
"""What one types to start it."""


def data_folder() -> Path:
    """The folder that holds agents/, backends/, experiments/, and all else that the wheel has of a clone."""
    return IN_WHEEL if INSTALLED else PACKAGE.parents[1]
