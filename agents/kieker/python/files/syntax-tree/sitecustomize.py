"""Starts Kieker and imports the traced module with probes in its syntax tree, before the program begins."""

import sys
import traceback


def trace_module() -> None:
    """Let Kieker's loader read, change and run the one module that is traced."""
    from importlib.util import find_spec, module_from_spec
    from pathlib import Path

    import tracetax_kieker

    tracetax_kieker.start()
    from tools.importhookast import InstrumentOnImportFinder

    found = find_spec(tracetax_kieker.MODULE)
    if found is None or found.origin is None:
        raise ImportError(f"there is no module {tracetax_kieker.MODULE}")
    source = Path(found.origin)
    folder = source.parent.parent if found.submodule_search_locations else source.parent
    spec = InstrumentOnImportFinder(empty=tracetax_kieker.EMPTY).find_spec(found.name, [str(folder)])
    module = module_from_spec(spec)
    sys.modules[found.name] = module
    spec.loader.exec_module(module)


try:
    trace_module()
except Exception:  # Python would print a line and run the program untraced
    traceback.print_exc()
    sys.exit("Kieker could not be set up.")
