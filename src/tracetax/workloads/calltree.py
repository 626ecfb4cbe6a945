"""The call tree: what its driver is told, and what it leaves."""

from tracetax.kinds.calltree import TreeParameters
from tracetax.program import Workload
from tracetax.workloads.driver_output import collect
from tracetax.workloads.kinds import DriverFiles

__all__ = ["arguments", "collect"]


def arguments(parameters: TreeParameters, files: DriverFiles, workload: Workload) -> tuple[str, ...]:
    """The driver's own options."""
    rate = "full" if parameters.rate == "full" else f"{parameters.rate!r}"
    return (
        *("--calls", str(parameters.calls)),
        *("--depth", str(parameters.depth)),
        *("--method-time-ns", str(parameters.method_time_ns)),
        *("--threads", str(parameters.threads)),
        *("--rate", rate),
        *("--wait", parameters.wait),
        *(("--start-up", workload.start_up.entry) if parameters.start_up_methods and workload.start_up else ()),
        *("--out", str(files.output)),
        *("--status", str(files.status)),
    )
