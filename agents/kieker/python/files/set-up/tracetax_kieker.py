"""Makes Kieker's package importable and sets it up, from what the environment says."""

import os
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType

EMPTY = os.environ["TRACETAX_EMPTY"] == "True"
"""Whether the probes are to do nothing."""
MODULE = os.environ["TRACETAX_CLASS"].rpartition(".")[0]
"""The module whose functions are traced."""


def start() -> None:
    """Start Kieker's controller with a file of settings such as MooBench's script writes."""
    file = Path(os.environ["TRACETAX_DIR"]) / "monitoring.ini"
    file.write_text(
        "[General]\nmultiple_Connections = False\n"
        f"[Main]\nmode = {os.environ['TRACETAX_MODE']}\n"
        f"[Tcp]\nhost = {os.environ['TRACETAX_HOST']}\nport = {os.environ['TRACETAX_PORT']}\nconnection_timeout = 10\n"
        f"[FileWriter]\nfile_path = {file.with_name('kieker-0.dat')}\n",
        encoding="utf-8",
    )
    controller().MonitoringController(str(file))


def controller() -> ModuleType:
    """Import Kieker's controller.

    In release 0.0.2 it imports ``WriterController`` from itself, and so cannot be imported. The class is in a module
    beside it, and is put where the import looks for it.
    """
    spec = find_spec("monitoring.controller")
    if spec is None or spec.loader is None:
        raise ImportError("kieker-monitoring-for-python has no monitoring.controller")
    module = module_from_spec(spec)
    module.__dict__["WriterController"] = import_module("monitoring.writer_controller").WriterController
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
