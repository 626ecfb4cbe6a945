"""Starts Kieker and decorates the members of the traced module, before the program begins."""

import sys
import traceback


def trace_module() -> None:
    """Do what Kieker's hook does after an import, to the one module that is traced."""
    from importlib import import_module

    import tracetax_kieker

    tracetax_kieker.start()
    from tools.aspect import decorate_members

    decorate_members(import_module(tracetax_kieker.MODULE), tracetax_kieker.EMPTY)


try:
    trace_module()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("Kieker could not be set up.")
