"""Settings of Java, as tests write them."""

from tracetax.model import Settings


def java_settings(heap: int, collector: str = "G1", jdk: int = 0) -> Settings:
    """What a part says of its Java; a release of 0 is one that nobody chose."""
    return {**({"jdk": jdk} if jdk else {}), "heap": heap, "collector": collector}
