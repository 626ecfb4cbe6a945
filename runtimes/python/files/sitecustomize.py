"""Begins an agent in a program that is started as ever, and puts the agent's packages behind the program's own.

PYTHONPATH alone would put them before: the program would run with other versions of its libraries than without the
agent. TRACETAX_SEARCH_PATH names the folder of the agent's own sitecustomize first, then its packages. Where it is
empty, nothing is begun.
"""

import os
import sys


def begin() -> None:
    """Make way for the sitecustomize that would have come otherwise, the agent's before all others."""
    # pathlib is not loaded: the program may do without, and would start later for it
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]  # noqa: PTH100
    places = [place for place in os.environ.get("TRACETAX_SEARCH_PATH", "").split(os.pathsep) if place]
    sys.path.extend(places[1:])
    sys.path[:0] = places[:1]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401  another one than this
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", this)
    if places and places[0] in sys.path:
        sys.path.remove(places[0])


begin()
