"""How the call tree is told."""

from tracetax.kinds.calltree import TreeParameters
from tracetax.parameters import FULL
from tracetax.report import numbers
from tracetax.words import plural

SPEED = ("rate", "calls", "wait")
TIME = ("ns", 1.0)


def called(parameters: TreeParameters) -> str:
    """How calls were issued: ``1,000 calls/s × 10 invocations, 1 thread, spinning between calls``."""
    threads = plural(parameters.threads, "thread")
    work = f", {numbers.duration(parameters.method_time_ns)} of work at the leaf" if parameters.method_time_ns else ""
    if parameters.rate == FULL:
        return f"calls back to back × {plural(parameters.depth, 'invocation')}, {threads}{work}"
    wait = {"spin": "spinning", "park": "parked"}[parameters.wait]
    calls = f"{parameters.rate:,.10g} calls/s × {plural(parameters.depth, 'invocation')}"
    return f"{calls}, {threads}, {wait} between calls{work}"
