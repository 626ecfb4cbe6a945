"""How requests are told."""

from tracetax.kinds.requests import RequestParameters, mix_words, speed_words

SPEED = ("rate", "calls", "arrivals", "connections")
TIME = ("µs", 1e3)


def called(parameters: RequestParameters) -> str:
    """How requests were sent: ``requests to db, at 500 requests/s, on 64 connections at most``."""
    return f"requests to {mix_words(parameters)}, {speed_words(parameters)}"
