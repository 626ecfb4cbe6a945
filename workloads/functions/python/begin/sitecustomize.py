"""Runs before everything else of the program: it marks the beginning, and then the end of an agent's set-up.

Agents for Python get in by a ``sitecustomize`` of their own, further down the path. It runs from here. Little is
imported, since all of it would lengthen each start.
"""

# ruff: noqa: PTH120 (pathlib would be imported for this alone)

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
OF_PYTHON = os.path.realpath(sys.base_prefix) + "/"


def begin() -> None:
    """Mark, run the next ``sitecustomize`` if there is one, and mark again if it was an agent's."""
    from tracetax_functions.marks import mark

    mark("runtime")
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) != HERE]
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize as found
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = own  # whoever imports this expects it there
        return
    if not os.path.realpath(found.__file__ or "").startswith(OF_PYTHON):  # a distribution may have its own
        mark("agent")


if os.environ.get("TRACETAX_MARKS"):
    begin()
