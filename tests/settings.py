"""Settings of Java and parameters of the call tree, as tests write them."""

from tracetax.kinds.calltree import TreeParameters
from tracetax.model import Parameters, Settings


def java_settings(heap: int, collector: str = "G1", jdk: int = 0) -> Settings:
    """What a part says of its Java; a release of 0 is one that nobody chose."""
    return {**({"jdk": jdk} if jdk else {}), "heap": heap, "collector": collector}


def tree(parameters: Parameters) -> TreeParameters:
    """The parameters, which are a call tree's."""
    assert isinstance(parameters, TreeParameters)
    return parameters
